// SPDX-License-Identifier: Apache-2.0
/**
 * Which ConfigMaps ovn-offload writes for the releases of OpenShift, and what it does when a cluster is updated while hosts run
 * OVN on their SmartNICs. The version comes from the ClusterVersion, as in a real cluster.
 */
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { labels } from "@switchyard/api";
import { eventually } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { fieldAt } from "../src/api/plain-api.ts";
import { snapshotOffload } from "./offload-objects.ts";
import { setOpenshiftVersion } from "./offload-cluster.ts";
import { startSimulatedCluster, type SimulatedOffloadCluster } from "./simulated-cluster.ts";

const ovnMaps = "/api/v1/namespaces/openshift-ovn-kubernetes/configmaps";
const resourcePath = "/api/v1/namespaces/openshift-network-operator/configmaps/hardware-offload-config";
const administrators = { _master: "OVN_KUBE_LOG_LEVEL=5" };
const entry = '{"ovnkube-node-mgmt-port":"ovnmgmt0"}';
const line = "OVNKUBE_NODE_MGMT_PORT_NETDEV=ovnmgmt0";

/** What the service has written for host-1. */
const byName = { ports: { "host-1": entry }, lines: { ...administrators, "host-1": line } };
const byResource = {
  ports: { "host-1": entry },
  lines: administrators,
  resource: { "mgmt-port-resource-name": "openshift.io/ovn_mgmt_vf" },
  label: "ovn_mgmt_vf",
};
/** The lines of hosts that were hosts before the update stay until they leave. */
const updated = { ...byResource, lines: byName.lines };

let simulated: SimulatedOffloadCluster;
let before: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  simulated = await startSimulatedCluster(["host-1"]);
  before = await snapshotOffload(simulated.place.testCluster);
}, 600_000);

afterAll(async () => {
  await disposeOf(simulated);
}, 120_000);

async function written(): Promise<unknown> {
  const { read } = simulated.place.api;
  const dataOf = async (path: string) => fieldAt(await read(path), "data");
  const host = await read("/api/v1/nodes/host-1");
  return {
    ports: await dataOf(`${ovnMaps}/ovn-management-ports`),
    lines: await dataOf(`${ovnMaps}/env-overrides`),
    resource: await dataOf(resourcePath),
    label: fieldAt(host, "metadata", "labels", labels.ovnManagementResource),
  };
}

it.each([
  { version: "4.10.3", expected: byName },
  { version: "4.13.40", expected: byName },
  { version: "4.14.0-rc.1", expected: byResource },
  { version: "4.19.11", expected: byResource },
  { version: "5.0.0", expected: byResource },
])("writes what OpenShift $version reads, and restores it", async ({ version, expected }) => {
  await setOpenshiftVersion(simulated.place, version);
  await simulated.wayIn();
  expect(await written()).toEqual(expected);
  await simulated.wayOut();
  expect(await snapshotOffload(simulated.place.testCluster)).toEqual(before);
});

it("follows an update, and a host that joins later gets only what the new release reads", async () => {
  await setOpenshiftVersion(simulated.place, "4.13.40");
  await simulated.wayIn();
  expect(await written()).toEqual(byName);
  const { writes } = simulated.service;
  const from = { reboots: simulated.place.reboots.length, writes: writes.length };
  await setOpenshiftVersion(simulated.place, "4.14.2");
  await eventually("the resource is named", async () => {
    expect(await written()).toEqual(updated);
    return true;
  });
  await setOpenshiftVersion(simulated.place, "4.19.11");
  await simulated.addHost("host-2");
  await simulated.place.untilOverall("True Ready");
  const ports = { "host-1": entry, "host-2": entry };
  await eventually("host-2 is published", async () => {
    expect(await written()).toEqual({ ...updated, ports });
    return true;
  });
  // An update changes neither the MachineConfig nor the node's labels for OVN-Kubernetes.
  expect(writes.slice(from.writes).filter((write) => write.includes("/machineconfigs/"))).toEqual([]);
  expect(simulated.place.reboots.slice(from.reboots)).not.toContain("host-1");
  await simulated.removeHost("host-2");
  await simulated.wayOut();
  expect(await snapshotOffload(simulated.place.testCluster)).toEqual(before);
});

it("follows a return to an older release", async () => {
  await setOpenshiftVersion(simulated.place, "4.14.2");
  await simulated.wayIn();
  await setOpenshiftVersion(simulated.place, "4.13.40");
  await eventually("the lines are back", async () => {
    expect(await written()).toEqual(byName);
    return true;
  });
  await simulated.wayOut();
  expect(await snapshotOffload(simulated.place.testCluster)).toEqual(before);
});
