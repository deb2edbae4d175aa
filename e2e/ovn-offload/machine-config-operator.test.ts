// SPDX-License-Identifier: Apache-2.0
/** The stand-in of the machine config operator, with OpenShift's own CRDs on a real API server. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { machineConfigPools, machineConfigs, nodes } from "@switchyard/api";
import { connect, objectPath, type Transport } from "@switchyard/kube";
import {
  openshiftCrds,
  simulateMachineConfigOperator,
  type MergedMachineConfig,
  type SimulatedMachineConfigOperator,
} from "@switchyard/test-cluster";
import { eventually, startControlPlane, type ControlPlane } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { fieldAt } from "../src/api/plain-api.ts";

const testMs = 120_000;
const roleLabel = "machineconfiguration.openshift.io/role";
const reboots: { readonly node: string; readonly config: MergedMachineConfig }[] = [];

let cluster: ControlPlane;
let transport: Transport;
let operator: SimulatedMachineConfigOperator;

beforeAll(async () => {
  cluster = await startControlPlane();
  for (const file of await openshiftCrds()) await cluster.applyCrds(file);
  await apply(pool("worker", ["worker"]), pool("dpu-host", ["worker", "dpu-host"]));
  for (const name of ["a", "b"]) await apply(node(name, ["worker", "dpu-host"]));
  await apply(node("plain", ["worker"]), machineConfig("00-worker", "worker"));
  transport = await connect({ kubeconfig: cluster.kubeconfig });
  operator = simulateMachineConfigOperator({
    transport,
    onReboot(name, config) {
      reboots.push({ node: name, config });
      return Promise.resolve();
    },
  });
}, 600_000);

afterAll(async () => {
  await disposeOf(operator, transport, cluster);
});

async function apply(...objects: readonly object[]): Promise<void> {
  for (const object of objects) {
    await cluster.kubectl(["apply", "--server-side", "-f", "-"], { input: JSON.stringify(object) });
  }
}

function pool(name: string, roles: readonly string[]) {
  return {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineConfigPool",
    metadata: { name },
    spec: {
      machineConfigSelector: { matchExpressions: [{ key: roleLabel, operator: "In", values: roles }] },
      nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: "" } },
    },
  };
}

function node(name: string, roles: readonly string[]) {
  const labels = Object.fromEntries(roles.map((role) => [`node-role.kubernetes.io/${role}`, ""]));
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels } };
}

function machineConfig(name: string, role: string) {
  const units = [{ name: `${role}.service`, enabled: true, contents: "[Service]\nExecStart=/bin/true\n" }];
  return {
    apiVersion: "machineconfiguration.openshift.io/v1",
    kind: "MachineConfig",
    metadata: { name, labels: { [roleLabel]: role } },
    spec: { config: { ignition: { version: "3.2.0" }, systemd: { units } } },
  };
}

const read = (path: string) => transport.request({ method: "GET", path });
const statusOf = async (name: string) => fieldAt(await read(objectPath(machineConfigPools, { name })), "status");

async function counts(name: string): Promise<string> {
  const status = await statusOf(name);
  return `${String(fieldAt(status, "updatedMachineCount"))} of ${String(fieldAt(status, "machineCount"))}`;
}

async function conditionOf(name: string, type: string): Promise<unknown> {
  const conditions = fieldAt(await statusOf(name), "conditions");
  const found = (Array.isArray(conditions) ? conditions : []).find((each) => fieldAt(each, "type") === type) as unknown;
  return fieldAt(found, "status");
}

describe("the machine config operator", () => {
  it(
    "gives each pool its merged configuration, and nodes theirs",
    async () => {
      await eventually("both pools are updated", async () => {
        return (await counts("dpu-host")) === "2 of 2" && (await counts("worker")) === "1 of 1";
      });
      expect(reboots).toEqual([]); // the first configuration of a node is what it was installed with
      const target = fieldAt(await read(objectPath(machineConfigPools, { name: "dpu-host" })), "spec", "configuration");
      expect(fieldAt(target, "name")).toMatch(/^rendered-dpu-host-[0-9a-f]{32}$/);
      expect(fieldAt(target, "source", 0, "name")).toBe("00-worker");
    },
    testMs,
  );

  it(
    "reboots the nodes of the pool one after the other for a change, and no others",
    async () => {
      await apply(machineConfig("99-mine", "dpu-host"));
      await eventually("both nodes have rebooted", () => reboots.length === 2);
      await eventually("the pool is updated", async () => (await conditionOf("dpu-host", "Updated")) === "True");
      expect(reboots.map((reboot) => reboot.node)).toEqual(["a", "b"]);
      const units = reboots[0]?.config.config.systemd?.units.map(({ name }) => name);
      expect(units).toEqual(["worker.service", "dpu-host.service"]);
      const annotations = fieldAt(await read(objectPath(nodes, { name: "a" })), "metadata", "annotations");
      expect(fieldAt(annotations, "machineconfiguration.openshift.io/currentConfig")).toBe(
        fieldAt(await statusOf("dpu-host"), "configuration", "name"),
      );
    },
    testMs,
  );

  it(
    "does nothing while the pool is paused, waits while it is held, and reports a node that fails",
    async () => {
      const before = reboots.length;
      const path = objectPath(machineConfigPools, { name: "dpu-host" });
      const pause = (paused: boolean) =>
        transport.request({
          method: "PATCH",
          path,
          body: { spec: { paused } },
          contentType: "application/merge-patch+json",
        });
      await pause(true);
      await transport.request({ method: "DELETE", path: objectPath(machineConfigs, { name: "99-mine" }) });
      await eventually("the pool is behind", async () => (await counts("dpu-host")) === "0 of 2");
      operator.hold();
      await pause(false);
      await eventually("the pool is updating", async () => (await conditionOf("dpu-host", "Updating")) === "True");
      expect(reboots).toHaveLength(before);
      operator.degrade("a");
      await eventually("the pool is degraded", async () => (await conditionOf("dpu-host", "Degraded")) === "True");
      operator.degrade("a", false);
      operator.hold(false);
      await eventually("the pool is updated", async () => (await counts("dpu-host")) === "2 of 2");
      expect(reboots).toHaveLength(before + 2);
    },
    testMs,
  );
});
