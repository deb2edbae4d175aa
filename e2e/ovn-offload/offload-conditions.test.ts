// SPDX-License-Identifier: Apache-2.0
/**
 * What an administrator sees in the status while hosts cannot be configured, and how ovn-offload treats nodes that join, move or
 * leave, and objects of others. The hosts are simulated; the API server, the operator and the service are real.
 */
import { afterAll, beforeAll, beforeEach, expect, it } from "@jest/globals";
import { labels } from "@switchyard/api";
import { hostPool } from "@switchyard/demo/openshift-objects";
import { eventually } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { fieldAt } from "../src/api/plain-api.ts";
import { isOffloaded, settledWithinMs, startOffloadCluster, type OffloadCluster } from "./offload-cluster.ts";
import { listPublished, snapshotOffload } from "./offload-objects.ts";
import { startOffloadService, type OffloadService } from "./offload-service.ts";
import { simulateHosts, type SimulatedHost } from "./simulated-hosts.ts";

const hosts = new Map<string, SimulatedHost>();
const entry = (role: string) => ({ nodeSelector: { [`node-role.kubernetes.io/${role}`]: "" } });
const nodePath = (name: string) => `/api/v1/nodes/${name}`;
const poolsPath = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools";
const configsPath = "/apis/machineconfiguration.openshift.io/v1/machineconfigs";
const configPath = `${configsPath}/99-${hostPool}-ovn-hw-offload`;
const policiesPath = "/apis/sriovnetwork.openshift.io/v1/namespaces/sriov-network-operator/sriovnetworknodepolicies";
const policyPath = `${policiesPath}/ovn-offload-${hostPool}-bluefield-2`;
const portsPath = "/api/v1/namespaces/openshift-ovn-kubernetes/configmaps/ovn-management-ports";

let place: OffloadCluster;
let service: OffloadService;
let before: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  place = await startOffloadCluster({
    onReboot(node, config) {
      const host = hosts.get(node);
      if (host !== undefined) host.isOffloaded = isOffloaded(config);
    },
  });
  place.testCluster.use(simulateHosts({ transport: place.testCluster.transport, hosts }));
  service = await startOffloadService(place.testCluster);
  await place.create(poolObject("second"));
  await addHost("host-1");
  await addHost("host-2");
  before = await snapshotOffload(place.testCluster);
}, 600_000);

/** Each test ends with nothing selected. */
beforeEach(async () => {
  expect(await place.overall()).toBe("");
});

afterAll(async () => {
  await disposeOf(place);
}, 120_000);

function poolObject(name: string) {
  const key = "machineconfiguration.openshift.io/role";
  return {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineConfigPool",
    metadata: { name },
    spec: {
      machineConfigSelector: { matchExpressions: [{ key, operator: "In", values: ["worker", name] }] },
      nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: "" } },
    },
  };
}

async function addHost(name: string, more: Partial<SimulatedHost> = {}): Promise<SimulatedHost> {
  const host: SimulatedHost = { cards: ["a2d6"], mode: "embedded-cpu", isOffloaded: false, ...more };
  hosts.set(name, host);
  await place.addNode(name, hostPool);
  return host;
}

async function removeHost(name: string): Promise<void> {
  hosts.delete(name);
  await place.api.remove(nodePath(name));
}

const labelsOf = async (name: string) => fieldAt(await place.api.read(nodePath(name)), "metadata", "labels");
const publishedNodes = () => listPublished(place.testCluster);
const machineConfigWrites = () => service.writes.filter((write) => write.includes("/machineconfigs/")).length;

/** Deselects, and checks that nothing is left. */
async function leave(): Promise<void> {
  await place.select();
  await eventually(
    "nothing is left",
    async () => {
      const text = await place.overall();
      if (text === "") return true;
      throw new Error(text);
    },
    { withinMs: settledWithinMs },
  );
  expect(await snapshotOffload(place.testCluster)).toEqual(before);
}

it("adds a node to a pool of hosts without changing the MachineConfig, and forgets a deleted node", async () => {
  await place.select(entry(hostPool));
  await place.untilOverall("True Ready");
  const writes = machineConfigWrites();
  await addHost("host-3");
  await eventually("host-3 is published", async () => (await publishedNodes()).includes("host-3"), {
    withinMs: settledWithinMs,
  });
  await place.untilOverall("True Ready");
  expect(await labelsOf("host-3")).toHaveProperty([labels.ovnOffloadPool], hostPool);
  await removeHost("host-3");
  await eventually("host-3 is not published", async () => !(await publishedNodes()).includes("host-3"));
  expect(machineConfigWrites()).toBe(writes);
  await leave();
});

it("moves a node from one selected pool to another, and to a pool that is not selected", async () => {
  await place.select(entry(hostPool), entry("second"));
  await eventually("host-1 is labelled", async () => (await publishedNodes()).length === 2, {
    withinMs: settledWithinMs,
  });
  const move = (from: string, to: string | null) =>
    place.api.patch(nodePath("host-1"), {
      metadata: {
        labels: { [`node-role.kubernetes.io/${from}`]: null, ...(to && { [`node-role.kubernetes.io/${to}`]: "" }) },
      },
    });
  await move(hostPool, "second");
  await eventually("the second pool has its host", async () => {
    const pool = fieldAt(await labelsOf("host-1"), labels.ovnOffloadPool);
    return pool === "second" && (await publishedNodes()).includes("host-1");
  });
  await place.untilOverall("True Ready");
  await move("second", null);
  await eventually(
    "host-1 is restored",
    async () => {
      return fieldAt(await labelsOf("host-1"), labels.ovnOffloadPool) === undefined;
    },
    { withinMs: settledWithinMs },
  );
  expect(await publishedNodes()).toEqual(["host-2"]);
  expect(hosts.get("host-1")?.isOffloaded).toBe(false);
  await place.select();
  await eventually("nothing is left", async () => (await place.overall()) === "", { withinMs: settledWithinMs });
  await place.api.patch(nodePath("host-1"), { metadata: { labels: { [`node-role.kubernetes.io/${hostPool}`]: "" } } });
  await leave();
});

it("restores the hosts of a deleted pool", async () => {
  await place.select(entry(hostPool));
  await place.untilOverall("True Ready");
  await place.api.remove(`${poolsPath}/${hostPool}`);
  await eventually("the hosts are restored", async () => (await publishedNodes()).length === 0, {
    withinMs: settledWithinMs,
  });
  await eventually("the MachineConfig is gone", async () => (await place.api.read(configPath)) === undefined);
  await place.untilOverall("Degraded", "no MachineConfigPool has the label");
  await place.create(poolObject(hostPool));
  await leave();
});

it("waits for a paused, a degraded and a slow pool, and names it", async () => {
  const pause = (paused: boolean) => place.api.patch(`${poolsPath}/${hostPool}`, { spec: { paused } });
  await pause(true);
  await place.select(entry(hostPool));
  await place.untilOverall("Progressing", `MachineConfigPool ${hostPool} is paused`);
  expect(await place.api.read(configPath)).toBeUndefined();
  place.machineConfigOperator.hold();
  await pause(false);
  await place.untilOverall("Progressing", "host-1", "must boot with Open vSwitch disabled");
  place.machineConfigOperator.degrade("host-1");
  place.machineConfigOperator.hold(false);
  await eventually("the pool is degraded", async () =>
    JSON.stringify(await place.api.read(`${poolsPath}/${hostPool}`)).includes('"degradedMachineCount":1'),
  );
  await place.untilOverall(`MachineConfigPool ${hostPool} is degraded`);
  place.machineConfigOperator.degrade("host-1", false);
  await place.untilOverall("True Ready");
  await leave();
});

it.each([
  { is: "without a BlueField", more: { cards: [] }, words: ["host-x", "no SmartNIC"] },
  { is: "with two cards", more: { cards: ["a2d6", "a2dc"] }, words: ["host-x", "has 2 SmartNICs"] },
  { is: "with a card in the wrong mode", more: { mode: "nic" as const }, words: ["host-x", "is in mode nic"] },
])("names a selected node $is, before any host of the pool changes", async ({ more, words }) => {
  const writes = machineConfigWrites();
  await addHost("host-x", more);
  await place.select(entry(hostPool));
  await place.untilOverall("False", ...words);
  expect([await place.api.read(configPath), machineConfigWrites()]).toEqual([undefined, writes]);
  await removeHost("host-x");
  await place.untilOverall("True Ready");
  await leave();
});

it("leaves objects of others with its names alone, and says so", async () => {
  const spec = { config: { ignition: { version: "3.2.0" } } };
  const role = { "machineconfiguration.openshift.io/role": "nobody" };
  const config = { apiVersion: "machineconfiguration.openshift.io/v1", kind: "MachineConfig", spec };
  await place.create({ ...config, metadata: { name: `99-${hostPool}-ovn-hw-offload`, labels: role } });
  const foreign = await place.api.read(configPath);
  await place.select(entry(hostPool));
  await place.untilOverall("Degraded", `99-${hostPool}-ovn-hw-offload`, "created by another program");
  expect(await place.api.read(configPath)).toEqual(foreign);
  await place.api.remove(configPath);
  await place.untilOverall("True Ready");
  await leave();
});

it("repairs foreign edits, and keeps what users may change", async () => {
  await place.select(entry(hostPool));
  await place.untilOverall("True Ready");
  const units = { systemd: { units: [] }, ignition: { version: "3.2.0" } };
  await place.api.patch(configPath, { spec: { config: units } });
  await place.api.patch(policyPath, { spec: { nodeSelector: { other: "x" }, numVfs: 8 } });
  await place.api.patch(portsPath, { data: { "host-1": null } });
  await place.api.patch(nodePath("host-1"), {
    metadata: { labels: { "network.operator.openshift.io/dpu-host": null, [labels.ovnOffloadPool]: null } },
  });
  await eventually(
    "all is repaired",
    async () => {
      const [config, policy] = await Promise.all([configPath, policyPath].map((path) => place.api.read(path)));
      return (
        JSON.stringify(config).includes("/enoent") &&
        fieldAt(policy, "spec", "nodeSelector", "other") === undefined &&
        (await publishedNodes()).length === 2 &&
        fieldAt(await labelsOf("host-1"), labels.ovnOffloadPool) === hostPool &&
        fieldAt(await labelsOf("host-1"), "network.operator.openshift.io/dpu-host") === ""
      );
    },
    { withinMs: settledWithinMs },
  );
  expect(fieldAt(await place.api.read(policyPath), "spec", "numVfs")).toBe(8);
  await place.untilOverall("True Ready");
  await leave();
});
