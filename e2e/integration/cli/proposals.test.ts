// SPDX-License-Identifier: Apache-2.0
/**
 * The objects of upstream's users and the examples of Switchyard's proposals, validated by a real API server with the
 * CRDs and the webhook and by `switchyard validate`, which must agree.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { afxdpApiVersion, apiVersion, customResources, sriovNetworkNodeStates, sriovResources } from "@switchyard/api";
import {
  createNode,
  createOperatorConfig,
  namespace,
  startTestCluster,
  type TestCluster,
  silentNarrator,
} from "@switchyard/test-cluster";
import { objectPath } from "@switchyard/kube";
import { ensureBinaries, eventually, runProgram } from "@switchyard/testing";
import { join } from "node:path";
import { askServer, askSwitchyard, startRegisteredWebhook, type Answer } from "./answers.ts";
import { objectOf } from "../../src/crds/crd-cases.ts";
import { patch, readManifests, workspace, type Manifest } from "../../src/crds/crd-objects.ts";

const coldStartMs = 10 * 60_000;
const testMs = 3 * 60_000;
const proposals = "e2e/integration/cli/testdata/proposals";
const upstream = "e2e/testdata/upstream";

/** The objects that are refused, each with a part of the message. All others are accepted. */
const refused: Readonly<Record<string, string>> = {
  // Upstream's webhook refuses these, too; its CRDs accept them.
  "SriovNetworkNodePolicy/from-go-client": "spec.numVfs: must be at least 1",
  "SriovNetworkNodePolicy/virtual": 'spec.linkType: must be "eth" or omitted if spec.nicSelector.netFilter is set',
  "SriovOperatorConfig/every-field": 'metadata.name: must be "default"',
  "SriovOperatorConfig/without-spec": 'metadata.name: must be "default"',
  "SriovNetworkNodePolicy/more-vfs":
    "spec.numVfs: 11 is higher than the virtual functions allocated for the PF externally; create them first: 0000:5e:00.0 has 10 on worker-1",
  "SriovNetworkNodePolicy/no-vfs":
    "spec.numVfs: 10 is higher than the virtual functions allocated for the PF externally; create them first: 0000:5e:00.1 has 0 on worker-1",
  "SriovNetworkNodePolicy/larger-mtu":
    "spec.mtu: MTU 9000 requested, but 0000:5e:00.0 is externally managed and has MTU 1500 on worker-1",
  "SriovNetworkNodePolicy/other-link-type":
    'spec.linkType: "eth" requested, but 0000:86:00.0 is externally managed and has link type IB on worker-1',
  "SriovNetworkNodePolicy/other-mode":
    'spec.eSwitchMode: "switchdev" requested, but 0000:5e:00.0 is externally managed and in legacy mode on worker-1',
  "OVSNetwork/ovs-network-reversed-trunk": "spec.trunk",
  "SriovNetworkNodePolicy/both-bridges": "spec.bridge",
  "SriovNetworkNodePolicy/bridge-in-legacy-mode": "spec.bridge",
  "SriovNetworkNodePolicy/bridge-of-somebody-else": "spec.bridge",
  "SriovNetworkNodePolicy/unknown-vlan-protocol": "spec.bridge.linux.bridge.vlanProtocol",
  "AfxdpNetworkNodePolicy/policy-1": "spec.deviceType",
  "SriovNetworkPoolConfig/bridges-in-a-pool": 'unknown field "spec.bridges"',
};

let testCluster: TestCluster;

beforeAll(async () => {
  testCluster = await startTestCluster(silentNarrator);
  for (const name of ["tenant-a", "tenant-b", "hpc"]) await testCluster.cluster.kubectl(["create", "namespace", name]);
  await startRegisteredWebhook(testCluster);
  const isThere = async () => (await askServer(testCluster, objectOf("SriovNetwork", {}))).allowed;
  await eventually("the webhook answers", isThere, { withinMs: 60_000 });
}, coldStartMs);

afterAll(async () => {
  await testCluster[Symbol.asyncDispose]();
}, 60_000);

function expectAnswer({ kind, metadata }: Manifest, { allowed, message }: Answer): void {
  const name = `${kind}/${metadata.name}`;
  const reason = refused[name];
  const words: unknown = reason === undefined ? "" : expect.stringContaining(reason);
  expect({ name, allowed, message }).toEqual({ name, allowed: reason === undefined, message: words });
}

const served = [apiVersion, afxdpApiVersion];

/** Objects of the kinds that the webhook validates, in the operator's namespace unless they name another. */
function validatedObjectsIn(path: string): readonly Manifest[] {
  const kinds = customResources.map(({ kind }) => kind).filter((kind) => !kind.endsWith("NodeState"));
  return readManifests(path)
    .filter(({ kind, apiVersion }) => kinds.includes(kind) && served.includes(apiVersion))
    .map((object) => ({ ...object, metadata: { namespace, ...withoutFinalizers(object.metadata) } }));
}

/** Removes upstream's finalizers: the API server warns about their names, and `switchyard validate` does not. */
function withoutFinalizers(metadata: Manifest["metadata"] & { readonly finalizers?: unknown }): Manifest["metadata"] {
  const { finalizers: _, ...rest } = metadata;
  return rest;
}

/** Expects the same answers of the API server with its webhook and of `switchyard validate`, as in `refused`. */
async function expectAnswers(file: string): Promise<void> {
  const objects = validatedObjectsIn(file);
  const ours = await askSwitchyard(testCluster, objects);
  for (const [index, object] of objects.entries()) {
    const answer = await askServer(testCluster, object);
    expect({ object, answer: ours[index] }).toEqual({ object, answer });
    expectAnswer(object, answer);
  }
}

describe("an object of upstream's users", () => {
  it.each(sriovResources.filter(({ kind }) => kind !== sriovNetworkNodeStates.kind && kind !== "BridgeNetwork"))(
    "is accepted, or refused as by upstream's webhook: $plural",
    ({ plural }) => expectAnswers(`${upstream}/${plural}.yaml`),
    testMs,
  );
});

describe("the examples of upstream's proposals", () => {
  beforeAll(async () => {
    await createOperatorConfig(testCluster);
    for (const state of readManifests(`${proposals}/cluster.yaml`)) await report(state);
    await eventually("the webhook knows the nodes", async () => {
      const nowhere = { nicSelector: { pfNames: ["none"] }, nodeSelector: { "kubernetes.io/hostname": lastNode } };
      return !(await askServer(testCluster, objectOf("SriovNetworkNodePolicy", nowhere))).allowed;
    });
  }, testMs);

  it.each(["externally-managed-pf", "software-bridges", "smartnic-ovn-offload", "afxdp-network-operator"])(
    "of %s are accepted, or refused for the expected reason",
    (proposal) => expectAnswers(`${proposals}/${proposal}.yaml`),
    testMs,
  );

  it(
    "conflict if two policies select the same VFs, also if those are externally managed",
    async () => {
      const [some, all] = validatedObjectsIn(`${proposals}/externally-managed-pf.yaml`);
      if (some === undefined || all === undefined) throw new TypeError("the file must begin with two policies");
      await testCluster.cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(some) });
      const message =
        "spec.nicSelector.pfNames[0]: requests VFs 0-9 of ens3f0 (0000:5e:00.0), in conflict with VFs 5-9 of policy some-vfs";
      const refusal = { allowed: false, code: 403, message: expect.stringContaining(message) };
      await eventually("the webhook knows the first policy", async () => !(await askServer(testCluster, all)).allowed);
      expect(await askServer(testCluster, all)).toMatchObject(refusal);
      expect(await askSwitchyard(testCluster, [all])).toMatchObject([refusal]);
      await testCluster.cluster.kubectl(["delete", "sriovnetworknodepolicy", "some-vfs", "--namespace", namespace]);
    },
    testMs,
  );

  it("of versions that the API server does not serve are reported with the right version", async () => {
    const [smartNic, afxdp] = ["smartnic-ovn-offload", "afxdp-network-operator"].map((name) =>
      join(workspace, proposals, `${name}.yaml`),
    );
    const program = join(workspace, "apps/cli/bin/switchyard.mjs");
    const args = [program, "validate", "-f", smartNic ?? "", "-f", afxdp ?? ""];
    const ours = await runProgram(process.execPath, args);
    for (const object of ["AfxdpNetwork/example-network", "AfxdpNetworkNodePolicy/policy-1"]) {
      expect(ours.stderr).toContain(`${object}: `);
    }
    expect(ours.stderr).toContain(
      'apiVersion: "afxdpnetwork.hns.dev/v1aplha1" does not exist: use "afxdpnetwork.hns.dev/v1alpha1"',
    );
    const kubectl = join(await ensureBinaries(), "kubectl");
    const flags = ["--kubeconfig", testCluster.cluster.kubeconfig, "--dry-run=server", "--filename", afxdp ?? ""];
    const server = await runProgram(kubectl, ["create", ...flags]);
    expect(server.stderr).toContain('no matches for kind "AfxdpNetwork" in version "afxdpnetwork.hns.dev/v1aplha1"');
  });
});

const lastNode = "smart-nic-worker-0";

/** Creates a node and reports its status, as its daemon would. */
async function report(state: Manifest): Promise<void> {
  const { name } = state.metadata;
  await createNode(testCluster, name);
  if (name === lastNode) {
    await testCluster.cluster.kubectl(["label", "node", name, "network.operator.openshift.io/smart-nic="]);
  }
  const path = objectPath(sriovNetworkNodeStates, { name, namespace });
  await eventually(`the state of ${name}`, () => testCluster.transport.request({ method: "GET", path }));
  await patch(testCluster.transport, state, { status: state.status });
}
