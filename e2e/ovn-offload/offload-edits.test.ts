// SPDX-License-Identifier: Apache-2.0
/**
 * An administrator edits an object that ovn-offload shares with others, while the service is writing it: the edit is never lost.
 * The write of the service is held back until the edit is stored.
 */
import { afterAll, beforeAll, beforeEach, expect, it } from "@jest/globals";
import { disposeOf } from "../src/dispose-of.ts";
import type { WriteOutcome } from "../src/api/fault-rules.ts";
import { fieldAt } from "../src/api/plain-api.ts";
import { setOpenshiftVersion } from "./offload-cluster.ts";
import { startSimulatedCluster, type SimulatedOffloadCluster } from "./simulated-cluster.ts";

const pass: WriteOutcome = { isCarriedOut: true, answer: "server's" };
const ovnMaps = "/api/v1/namespaces/openshift-ovn-kubernetes/configmaps";
const portsPath = `${ovnMaps}/ovn-management-ports`;
const linesPath = `${ovnMaps}/env-overrides`;
const resourcePath = "/api/v1/namespaces/openshift-network-operator/configmaps/hardware-offload-config";
const dnsPath = "/apis/operator.openshift.io/v1/dnses/default";
const nodePath = "/api/v1/nodes/host-1";
const line = "OVNKUBE_NODE_MGMT_PORT_NETDEV=ovnmgmt0";

let simulated: SimulatedOffloadCluster;

beforeAll(async () => {
  simulated = await startSimulatedCluster(["host-1"]);
  await simulated.place.create({
    apiVersion: "v1",
    kind: "ConfigMap",
    data: { "dpu-node-lease-duration": "50" },
    metadata: { name: "hardware-offload-config", namespace: "openshift-network-operator" },
  });
}, 600_000);

beforeEach(() => {
  simulated.service.setFate(() => pass);
});

afterAll(async () => {
  await disposeOf(simulated);
}, 120_000);

/** Holds back the next such write until the administrator's edit is stored. The result tells whether it met with a conflict. */
function editBefore(method: string, path: string, edit: object): () => boolean {
  let stored: Promise<void> | undefined;
  simulated.service.setFate((write) => {
    if (stored !== undefined || write.method !== method || write.path !== path) return pass;
    stored = simulated.place.api.patch(path, edit);
    return { ...pass, until: stored };
  });
  const from = simulated.service.refused.length;
  return () => simulated.service.refused.slice(from).some((text) => text.startsWith(`409 ${method} ${path} by `));
}

const dataOf = async (path: string) => fieldAt(await simulated.place.api.read(path), "data");

it("keeps lines that are added to a host's value of env-overrides while it is published", async () => {
  await setOpenshiftVersion(simulated.place, "4.13.9");
  const conflicts = editBefore("PATCH", linesPath, { data: { "host-1": "OVN_KUBE_LOG_LEVEL=4\n" } });
  await simulated.wayIn();
  expect(await dataOf(linesPath)).toEqual({
    _master: "OVN_KUBE_LOG_LEVEL=5",
    "host-1": `${line}\nOVN_KUBE_LOG_LEVEL=4\n`,
  });
  expect(conflicts()).toBe(true);
});

it("keeps lines that are changed while the host's line is removed", async () => {
  const text = `${line}\nOVN_KUBE_LOG_LEVEL=3\n`;
  const conflicts = editBefore("PATCH", linesPath, { data: { "host-1": text, other: "A=1" } });
  await simulated.wayOut();
  expect(await dataOf(linesPath)).toEqual({
    _master: "OVN_KUBE_LOG_LEVEL=5",
    other: "A=1",
    "host-1": "OVN_KUBE_LOG_LEVEL=3\n",
  });
  expect(conflicts()).toBe(true);
});

it("keeps a key that is added to its own ConfigMap while that is being deleted", async () => {
  await simulated.wayIn();
  const conflicts = editBefore("DELETE", portsPath, { data: { note: "mine" } });
  await simulated.wayOut();
  expect(await dataOf(portsPath)).toEqual({ note: "mine" });
  expect(conflicts()).toBe(true);
  await simulated.place.api.remove(portsPath);
});

it("uses the resource that an administrator chooses while it sets its own", async () => {
  await setOpenshiftVersion(simulated.place, "4.16.3");
  const key = "mgmt-port-resource-name";
  const conflicts = editBefore("PATCH", resourcePath, { data: { [key]: "openshift.io/mgmtvf" } });
  await simulated.wayIn();
  const chosen = { "dpu-node-lease-duration": "50", [key]: "openshift.io/mgmtvf" };
  expect(await dataOf(resourcePath)).toEqual(chosen);
  expect(fieldAt(await simulated.place.api.read(nodePath), "metadata", "labels")).toMatchObject({
    "switchyard.io/ovn-management-resource": "mgmtvf",
  });
  expect(conflicts()).toBe(true);
  await simulated.wayOut();
  expect(await dataOf(resourcePath)).toEqual(chosen);
  await simulated.place.api.patch(resourcePath, { data: { [key]: null } });
});

it("restores the DNS placement that an administrator chooses while it is changed", async () => {
  const conflicts = editBefore("PATCH", dnsPath, { spec: { nodePlacement: { nodeSelector: { zone: "a" } } } });
  await simulated.place.api.patch("/api/v1/nodes/worker-0", { metadata: { labels: { zone: "a" } } });
  await simulated.wayIn();
  expect(conflicts()).toBe(true);
  await simulated.wayOut();
  const role = "node-role.kubernetes.io/worker";
  expect(fieldAt(await simulated.place.api.read(dnsPath), "spec", "nodePlacement")).toEqual({
    nodeSelector: { [role]: "", zone: "a" },
  });
  await simulated.place.api.patch(dnsPath, { spec: { nodePlacement: { nodeSelector: { zone: null } } } });
  await simulated.place.api.patch("/api/v1/nodes/worker-0", { metadata: { labels: { zone: null } } });
});

it("keeps a taint that is added to a host while it gets its own", async () => {
  const taint = { key: "mine", value: "x", effect: "NoSchedule" };
  const node = () => simulated.place.api.read(nodePath);
  let isAdded = false;
  async function addTaint(): Promise<void> {
    const labels = JSON.stringify(fieldAt(await node(), "metadata", "labels"));
    // The host gets its labels before its taint.
    if (isAdded || !labels.includes("network.operator.openshift.io/dpu-host")) return;
    isAdded = true;
    await simulated.place.api.patch(nodePath, { spec: { taints: [taint] } });
  }
  simulated.service.setFate((write) => ({ ...pass, ...(write.path === nodePath && { until: addTaint() }) }));
  await simulated.wayIn();
  const own = { key: "switchyard.io/ovn-offload" };
  expect(fieldAt(await node(), "spec", "taints")).toEqual([taint, expect.objectContaining(own)]);
  await simulated.wayOut();
  expect(fieldAt(await node(), "spec", "taints")).toEqual([taint]);
});
