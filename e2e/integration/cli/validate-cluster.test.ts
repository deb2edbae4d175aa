// SPDX-License-Identifier: Apache-2.0
/**
 * `switchyard validate` and a real API server with the webhook, in a cluster with nodes, policies and pools. Both must
 * refuse the same objects with the same messages, and give the others the same warnings and defaults.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sriovNetworkNodeStates } from "@switchyard/api";
import {
  createNode,
  createOperatorConfig,
  namespace,
  startTestCluster,
  type TestCluster,
  silentNarrator,
} from "@switchyard/test-cluster";
import { objectPath } from "@switchyard/kube";
import { eventually } from "@switchyard/testing";
import { allocateClaim, deviceClaim, publishDevices } from "../../src/nodes/device-claims.ts";
import { askServer, askSwitchyard, startRegisteredWebhook } from "./answers.ts";
import { objectOf, type Spec } from "../../src/crds/crd-cases.ts";
import type { Manifest } from "../../src/crds/crd-objects.ts";

const policy = "SriovNetworkNodePolicy";
const pfNames = (...names: readonly string[]): Spec => ({ nicSelector: { pfNames: names } });

/** The objects that exist when the others are validated. */
const stored: readonly Manifest[] = [
  objectOf(policy, { resourceName: "low", ...pfNames("ens1f0#0-3") }, "low"),
  objectOf(policy, { resourceName: "whole", ...pfNames("ens1f1"), excludeTopology: true }, "whole"),
  objectOf("SriovNetworkPoolConfig", { nodeSelector: { matchLabels: { rack: "a" } } }, "rack-a"),
];

/** A pod that uses a VF of the policy "low". */
const podWithVf = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "user", namespace: "default" },
  spec: {
    nodeName: "worker-1",
    containers: [{ name: "main", image: "none", resources: { limits: { "openshift.io/low": "1" } } }],
  },
};

const claim = { name: "nic", namespace: "default" };

/** A pod that uses a VF of the same PF by dynamic resource allocation. */
const podWithClaim = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "claimant", namespace: "default" },
  spec: {
    nodeName: "worker-2",
    containers: [{ name: "main", image: "none" }],
    resourceClaims: [{ name: "nic", resourceClaimName: claim.name }],
  },
};

/** The objects to validate: kind, overridden fields, and name. */
const cases: readonly (readonly [kind: string, spec: Spec, name?: string])[] = [
  [policy, { resourceName: "high", ...pfNames("ens1f0#4-7") }],
  [policy, { resourceName: "high", ...pfNames("ens1f0#3-7") }],
  [policy, { resourceName: "high", ...pfNames("eno1#3-7") }], // an alternative name
  [policy, { resourceName: "all", ...pfNames("ens1f0") }],
  [policy, { resourceName: "part", ...pfNames("ens1f1#0-1") }],
  [policy, { resourceName: "both", ...pfNames("ens1f0#6-7", "ens1f1#6-7") }],
  [policy, { resourceName: "whole", ...pfNames("ens1f0#4-7") }], // excludeTopology differs from the policy "whole"
  [policy, { resourceName: "none", ...pfNames("ens9") }],
  [policy, { resourceName: "none", nodeSelector: { rack: "z" }, ...pfNames("ens1f0#4-7") }],
  [policy, { resourceName: "many", numVfs: 65, ...pfNames("ens1f0#4-7") }],
  [policy, { resourceName: "more", numVfs: 16, ...pfNames("ens1f0#8-15") }],
  [policy, { resourceName: "large", mtu: 9000, ...pfNames("ens1f0#4-7") }],
  [policy, { resourceName: "dpdk", deviceType: "vfio-pci", ...pfNames("ens1f0#4-7") }],
  [policy, { resourceName: "strong", priority: 1, ...pfNames("ens1f0#0-3") }],
  [policy, { resourceName: "by-address", priority: 1, nicSelector: { rootDevices: ["0000:3b:00.0"] } }],
  [policy, { resourceName: "by-address", nicSelector: { rootDevices: ["0000:3b:00.0"] } }], // the same priority as "low"
  [policy, { resourceName: "ib", linkType: "ib", isRdma: false, ...pfNames("ens1f0#4-7") }],
  [policy, { resourceName: "theirs", externallyManaged: true, ...pfNames("ens1f0#4-7") }],
  [policy, { resourceName: "vdpa", vdpaType: "vhost", eSwitchMode: "switchdev", ...pfNames("ens1f0#4-7") }],
  [policy, { resourceName: "bridged", bridge: { ovs: {} }, eSwitchMode: "switchdev", ...pfNames("ens1f0#4-7") }],
  [policy, { resourceName: "rare", nicSelector: { vendor: "abcd", deviceID: "1234" } }],
  [policy, { resourceName: "by-vendor", nicSelector: { vendor: "8086" } }],
  [policy, { resourceName: "cloud", nicSelector: { netFilter: "openstack/NetworkID:a" } }],
  [policy, { resourceName: "zero", numVfs: 0, ...pfNames("ens1f0") }],
  [policy, { resourceName: "a b", ...pfNames("ens1f0#4-7") }],
  [policy, { resourceName: "", nicSelector: {} }, "default"],
  [policy, { resourceName: "keys", nodeSelector: Object.fromEntries([["__proto__", "x"]]), ...pfNames("ens1f0#4-7") }],
  [policy, { resourceName: "keys", nodeSelector: { constructor: "x" }, ...pfNames("ens1f0#4-7") }],
  ["SriovNetworkPoolConfig", { nodeSelector: { matchLabels: { rack: "a" } }, maxUnavailable: 1 }],
  ["SriovNetworkPoolConfig", { nodeSelector: { matchLabels: { rack: "b" } }, maxUnavailable: 0 }],
  ["SriovNetworkPoolConfig", { maxUnavailable: "0%" }],
  ["SriovOperatorConfig", {}, "other"],
  ["SriovNetwork", { resourceName: "low" }],
  ["SriovNetwork", { resourceName: "unheard-of" }],
  ["SriovNetwork", { resourceName: "low", ipam: '{"type": }' }],
  ["SriovNetwork", { resourceName: "low", networkNamespace: "nowhere" }],
  ["SriovIBNetwork", { resourceName: "low" }],
  ["OVSNetwork", { resourceName: "low", metaPlugins: '{"type": "a"' }],
  ["BridgeNetwork", { resourceName: "low" }],
];

describe("switchyard validate", () => {
  let testCluster: TestCluster;

  beforeAll(async () => {
    testCluster = await startTestCluster(silentNarrator);
    await createOperatorConfig(testCluster);
    for (const name of ["worker-1", "worker-2"]) {
      await createNode(testCluster, name);
      await report(testCluster, name);
    }
    await testCluster.cluster.kubectl(["label", "node", "worker-1", "worker-2", "rack=a"]);
    await startRegisteredWebhook(testCluster);
    await eventually(
      "the webhook answers",
      async () => (await askServer(testCluster, objectOf("SriovNetwork", {}))).allowed,
      {
        withinMs: 60_000,
      },
    );
    for (const object of stored)
      await testCluster.cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(object) });
    for (const pod of [podWithVf, podWithClaim]) await apply(testCluster, pod);
    await allocateVf(testCluster);
    await eventually("the webhook has seen the pods", async () => {
      const more = objectOf(policy, { resourceName: "more", numVfs: 16, ...pfNames("ens1f0#8-15") });
      const { warnings } = await askServer(testCluster, more);
      return warnings.some((warning) => warning.endsWith("; 2 pods use these VFs"));
    });
    // The webhook has cached all stored objects once it refuses an object that conflicts with the last of them.
    await eventually("the webhook has seen the stored objects", async () => {
      const overlapping = objectOf("SriovNetworkPoolConfig", { nodeSelector: { matchLabels: { rack: "a" } } });
      return !(await askServer(testCluster, overlapping)).allowed;
    });
  }, 600_000);
  afterAll(async () => {
    await testCluster[Symbol.asyncDispose]();
  }, 60_000);

  it("answers as the API server and the webhook do", async () => {
    const objects = cases.map(([kind, spec, name], index) => objectOf(kind, spec, name ?? `case-${index}`));
    const ours = await askSwitchyard(testCluster, objects);
    for (const [index, object] of objects.entries()) {
      expect({ object, answer: ours[index] }).toEqual({ object, answer: await askServer(testCluster, object) });
    }
    expect(ours.filter(({ allowed }) => !allowed).length).toBeGreaterThan(10);
  }, 180_000);
});

async function apply(testCluster: TestCluster, object: object): Promise<void> {
  await testCluster.cluster.kubectl(["apply", "-f", "-"], { input: JSON.stringify(object) });
}

/** Publishes the VF and allocates it to the claim, as the driver and the scheduler do. */
async function allocateVf(testCluster: TestCluster): Promise<void> {
  const [driver, node, device] = ["nics.example.com", "worker-2", "vf-0"];
  const devices = { [device]: { "resource.kubernetes.io/pciBusID": "0000:3b:02.0" } };
  await publishDevices((object) => apply(testCluster, object), { driver, node, devices });
  await apply(testCluster, deviceClaim(claim));
  const pod = { ...podWithClaim.metadata, uid: "1" };
  await allocateClaim(testCluster.transport, { claim, driver, pool: node, device, pod });
}

/** Reports two PFs, as the node's daemon would. */
async function report(testCluster: TestCluster, name: string): Promise<void> {
  const path = objectPath(sriovNetworkNodeStates, { name, namespace });
  await eventually(`the state of ${name}`, () => testCluster.transport.request({ method: "GET", path }));
  const pf = (index: number) => ({
    pciAddress: `0000:3b:00.${index}`,
    name: `ens1f${index}`,
    altNames: [`eno${index + 1}`],
    vendor: "8086",
    deviceID: "158b",
    mtu: 1500,
    totalvfs: 64,
    linkType: "ETH",
    linkAdminState: "up",
    numVfs: 8,
    owned: true,
    Vfs: Array.from({ length: 8 }, (_, vfID) => ({
      vfID,
      pciAddress: `0000:3b:0${index + 2}.${vfID}`,
      name: `ens1f${index}v${vfID}`,
      driver: "iavf",
      mtu: 1500,
      adminMac: `02:00:00:00:0${index}:0${vfID}`,
    })),
  });
  const body = { status: { interfaces: [pf(0), pf(1)], syncStatus: "Succeeded" } };
  const contentType = "application/merge-patch+json";
  await testCluster.transport.request({
    method: "PATCH",
    path: objectPath(sriovNetworkNodeStates, { name, namespace }, "status"),
    body,
    contentType,
  });
}
