// SPDX-License-Identifier: Apache-2.0
/**
 * Somebody deletes an object on which hosts depend, while OVN of two hosts runs on their SmartNICs. It is no wish to leave: no host
 * reboots and loses a label, and what ovn-offload wrote is there again. config-lost.test.ts has the SriovOperatorConfig.
 */
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { hostPool } from "@switchyard/demo/openshift-objects";
import { isKubeObject, type KubeObject } from "@switchyard/kube";
import { namespace, openshiftCrds } from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { disposeOf } from "../src/dispose-of.ts";
import { fieldAt } from "../src/api/plain-api.ts";
import { setOpenshiftVersion, settledWithinMs } from "./offload-cluster.ts";
import { snapshotOffload } from "./offload-objects.ts";
import { startSimulatedCluster, type SimulatedOffloadCluster } from "./simulated-cluster.ts";

const config = `/apis/machineconfiguration.openshift.io/v1/machineconfigs/99-${hostPool}-ovn-hw-offload`;
const pool = `/apis/machineconfiguration.openshift.io/v1/machineconfigpools/${hostPool}`;
const group = `/apis/sriovnetwork.openshift.io/v1/namespaces/${namespace}`;
const policy = `${group}/sriovnetworknodepolicies/ovn-offload-${hostPool}-bluefield-2`;
const ports = "/api/v1/namespaces/openshift-ovn-kubernetes/configmaps/ovn-management-ports";
const resource = "/api/v1/namespaces/openshift-network-operator/configmaps/hardware-offload-config";
const network = "/apis/k8s.cni.cncf.io/v1/namespaces/default/network-attachment-definitions/default";

/** As long as the service waits for further changes, several times. */
const quietMs = 3_000;

let simulated: SimulatedOffloadCluster;

beforeAll(async () => {
  simulated = await startSimulatedCluster(["host-1", "host-2"]);
  await setOpenshiftVersion(simulated.place, "4.20.1");
  await simulated.wayIn();
  await simulated.place.api.patch(policy, { spec: { numVfs: 7, mtu: 9000 } });
  await simulated.place.untilOverall("True Ready");
}, 600_000);

afterAll(async () => {
  await disposeOf(simulated);
}, 120_000);

const remove = (path: string) => () => simulated.place.api.remove(path);

const kinds = "/apis/machineconfiguration.openshift.io/v1";
const machineKinds = [
  { kind: "MachineConfigPool", plural: "machineconfigpools" },
  { kind: "MachineConfig", plural: "machineconfigs" },
];
const definition = (plural: string) => `${plural}.machineconfiguration.openshift.io`;

/** A discovery of the API server is 30 s old at most, and watches that fail start again after at most a minute. */
const unservedMs = 60_000;

/** Runs `act` while no machine can boot: a real one needs minutes to drain. */
async function whileHeld(act: () => Promise<void>): Promise<void> {
  simulated.place.machineConfigOperator.hold();
  await act();
  await sleep(quietMs);
  simulated.place.machineConfigOperator.hold(false);
}

/** Returns an object as a backup has it. */
function withoutLife(object: unknown): object {
  if (!isKubeObject(object)) throw new Error("no object");
  const { metadata, ...rest } = object;
  const { name, labels, annotations } = metadata;
  return { ...rest, status: undefined, metadata: { name, labels, annotations } };
}

/** Returns the objects of a kind as a backup has them. */
async function backupOf(plural: string): Promise<readonly object[]> {
  const items = fieldAt(await simulated.place.api.read(`${kinds}/${plural}`), "items");
  return (Array.isArray(items) ? (items as readonly KubeObject[]) : [])
    .filter(({ metadata: { name, ownerReferences } }) => {
      return ownerReferences === undefined && !name.endsWith("-ovn-hw-offload"); // controllers write them again
    })
    .map(withoutLife);
}

async function replaceDefinition(plural: string): Promise<void> {
  const { place } = simulated;
  const backup = await backupOf(plural);
  await place.testCluster.cluster.kubectl(["delete", "crd", definition(plural), "--wait"]);
  await sleep(quietMs);
  for (const file of await openshiftCrds())
    if (file.endsWith(`_${plural}.crd.yaml`)) await place.testCluster.cluster.applyCrds(file);
  await sleep(quietMs);
  for (const object of backup) await place.create(object);
}

async function unserve(plural: string): Promise<void> {
  const serve = async (isServed: boolean) => {
    const patch = JSON.stringify([{ op: "replace", path: "/spec/versions/0/served", value: isServed }]);
    await simulated.place.testCluster.cluster.kubectl(["patch", "crd", definition(plural), "--type=json", "-p", patch]);
  };
  await serve(false);
  await sleep(unservedMs);
  await serve(true);
}

const cases = [
  {
    what: "its MachineConfig",
    restored: `MachineConfig 99-${hostPool}-ovn-hw-offload`,
    // A real machine needs minutes to drain.
    async act() {
      simulated.place.machineConfigOperator.hold();
      await simulated.place.api.remove(config);
      await eventually("it is there again", () => exists(config), { withinMs: settledWithinMs });
      await sleep(quietMs);
      simulated.place.machineConfigOperator.hold(false);
    },
  },
  {
    what: "its MachineConfig while the pool is paused",
    restored: `MachineConfig 99-${hostPool}-ovn-hw-offload`,
    async act() {
      await simulated.place.api.patch(pool, { spec: { paused: true } });
      await simulated.place.api.remove(config);
      await eventually("it is there again", () => exists(config), { withinMs: settledWithinMs });
      await simulated.place.api.patch(pool, { spec: { paused: false } });
    },
  },
  {
    what: "the MachineConfigPool for two seconds",
    restored: undefined,
    act: () =>
      whileHeld(async () => {
        const [object] = (await backupOf("machineconfigpools")).filter(
          (one) => fieldAt(one, "metadata", "name") === hostPool,
        );
        await simulated.place.api.remove(pool);
        await sleep(2_000);
        await simulated.place.create(object ?? {});
      }),
  },
  ...machineKinds.flatMap(({ kind, plural }) => [
    {
      what: `the CustomResourceDefinition of ${kind}, and a backup returns`,
      restored: undefined,
      act: () => whileHeld(() => replaceDefinition(plural)),
    },
    {
      what: `${kind} from what the API server serves, for a minute`,
      restored: undefined,
      act: () => whileHeld(() => unserve(plural)),
    },
  ]),
  {
    what: "the ClusterVersion for some seconds",
    restored: undefined,
    async act() {
      const path = "/apis/config.openshift.io/v1/clusterversions/version";
      const before = await simulated.place.api.read(path);
      await simulated.place.api.remove(path);
      await sleep(quietMs);
      await simulated.place.create(withoutLife(before));
      await setOpenshiftVersion(simulated.place, "4.20.1");
    },
  },
  {
    what: "the DNS of the cluster for some seconds",
    restored: undefined,
    async act() {
      const path = "/apis/operator.openshift.io/v1/dnses/default";
      const before = await simulated.place.api.read(path);
      await simulated.place.api.remove(path);
      await sleep(quietMs);
      await simulated.place.create(withoutLife(before));
    },
  },
  {
    what: "its policy, with what an administrator set in it",
    act: remove(policy),
    restored: `SriovNetworkNodePolicy ovn-offload-${hostPool}-bluefield-2`,
  },
  { what: "the ConfigMap of the management ports", act: remove(ports), restored: undefined },
  { what: "the ConfigMap of the network operator", act: remove(resource), restored: undefined },
  { what: "the network for pods", act: remove(network), restored: undefined },
  { what: "the node state of a host", act: remove(`${group}/sriovnetworknodestates/host-1`), restored: undefined },
];

it.each(cases)("keeps the hosts when somebody deletes $what", async ({ act, restored }) => {
  await expectHostsKept(act);
  if (restored === undefined) return;
  await eventually("an event says so", async () => (await notes()).some((note) => note.startsWith(restored)), {
    withinMs: settledWithinMs,
  });
});

it("keeps the hosts when a backup of etcd is restored below it", async () => {
  const { testCluster, api } = simulated.place;
  await expectHostsKept(async () => {
    const restore = await testCluster.cluster.backUpEtcd();
    for (let writes = 0; writes < 100; writes++) {
      await api.patch("/api/v1/nodes/host-1", { metadata: { annotations: { "example.com/noise": `${writes}` } } });
    }
    await restore();
    await api.patch(policy, { spec: { mtu: 9001 } });
    await api.patch(policy, { spec: { mtu: 9000 } });
  });
}, 900_000);

/** Acts, and waits until all objects are as before. No host may have rebooted. */
async function expectHostsKept(act: () => Promise<unknown>): Promise<void> {
  const { place } = simulated;
  const before = await snapshotOffload(place.testCluster);
  const reboots = place.reboots.length;
  await act();
  await sleep(quietMs);
  await place.untilOverall("True Ready");
  const isRestored = async () => isDeepStrictEqual(await snapshotOffload(place.testCluster), before);
  await eventually("all objects are as before", isRestored, { withinMs: settledWithinMs });
  await sleep(quietMs);
  expect(await snapshotOffload(place.testCluster)).toEqual(before);
  expect(place.reboots.slice(reboots)).toEqual([]);
}

it("says in the words of the webhook why its policy is refused", async () => {
  const { place } = simulated;
  // A ValidatingAdmissionPolicy answers as a webhook does.
  await place.create({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "few-vfs" },
    spec: {
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: ["sriovnetwork.openshift.io"],
            apiVersions: ["v1"],
            operations: ["CREATE", "UPDATE"],
            resources: ["sriovnetworknodepolicies"],
          },
        ],
      },
      validations: [{ expression: "object.spec.numVfs <= 4", message: "numVfs: this firmware supports 4 VFs" }],
    },
  });
  await place.create({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "few-vfs" },
    spec: { policyName: "few-vfs", validationActions: ["Deny"] },
  });
  await sleep(quietMs);
  await place.api.remove(policy);
  await place.untilOverall("False Degraded", "is refused", "numVfs: this firmware supports 4 VFs");
  const bindings = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
  await place.api.remove(`${bindings}/few-vfs`);
  await place.untilOverall("True Ready");
});

async function exists(path: string): Promise<boolean> {
  return (await simulated.place.api.read(path)) !== undefined;
}

async function notes(): Promise<readonly string[]> {
  const found = fieldAt(
    await simulated.place.api.read(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`),
    "items",
  );
  return (Array.isArray(found) ? (found as readonly unknown[]) : []).flatMap((event) => {
    return fieldAt(event, "reason") === "OvnOffloadObjectRestored" ? [String(fieldAt(event, "note"))] : [];
  });
}
