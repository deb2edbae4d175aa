// SPDX-License-Identifier: Apache-2.0
/**
 * startOffloadCluster starts an OpenShift cluster for tests of ovn-offload: a real API server with OpenShift's CRDs, the
 * operator, the stand-in of the machine config operator, and one worker without SmartNIC. Hosts are added by tests.
 */
import { sriovOperatorConfigs, type OvnHardwareOffload } from "@switchyard/api";
import { openshiftObjects } from "@switchyard/demo/openshift-objects";
import { objectPath } from "@switchyard/kube";
import {
  createNode,
  createOperatorConfig,
  namespace,
  openshiftCrds,
  simulateMachineConfigOperator,
  silentNarrator,
  startTestCluster,
  type MergedMachineConfig,
  type SimulatedMachineConfigOperator,
  type TestCluster,
} from "@switchyard/test-cluster";
import { eventually } from "@switchyard/testing";
import { createPlainApi, fieldAt, type PlainApi } from "../src/api/plain-api.ts";

const path = "/apis/config.openshift.io/v1/clusterversions/version/status";

export interface OffloadCluster extends AsyncDisposable {
  readonly testCluster: TestCluster;
  readonly api: PlainApi;
  readonly machineConfigOperator: SimulatedMachineConfigOperator;
  /** Nodes in the order of their reboots. */
  readonly reboots: readonly string[];
  /** Creates the object as an administrator. */
  create(object: object): Promise<void>;
  /** Creates a worker. With a role, it then moves to the pool of this name, and reboots with its configuration. */
  addNode(name: string, role?: string): Promise<void>;
  /** Waits until the node runs a configuration of the pool. */
  untilConfigured(name: string, pool: string): Promise<void>;
  /** Sets spec.ovnHardwareOffload. */
  select(...entries: readonly OvnHardwareOffload[]): Promise<void>;
  /** "True Ready: …" of the condition HardwareOffload; "" if there is none. */
  overall(): Promise<string>;
  /** Waits until the condition contains all of these words. */
  untilOverall(...words: readonly string[]): Promise<void>;
}

export const settledWithinMs = 120_000;

export interface OffloadClusterOptions {
  /** False: the cluster has no MachineConfigs, and the stand-in has nothing to do. True by default. */
  readonly isOpenshift?: boolean;
  readonly onReboot?: (node: string, config: MergedMachineConfig) => void | Promise<void>;
}

export async function startOffloadCluster({
  isOpenshift = true,
  onReboot,
}: OffloadClusterOptions): Promise<OffloadCluster> {
  const testCluster = await startTestCluster(silentNarrator);
  const { cluster, transport } = testCluster;
  const api = createPlainApi(() => transport);
  const reboots: string[] = [];
  const configPath = objectPath(sriovOperatorConfigs, { name: "default", namespace });

  async function create(object: object): Promise<void> {
    const manager = "--field-manager=administrator";
    await cluster.kubectl(["create", manager, "-f", "-"], { input: JSON.stringify(object) });
  }

  async function addNode(name: string, role?: string): Promise<void> {
    await createNode(testCluster, name);
    await api.patch(`/api/v1/nodes/${name}`, { spec: { taints: null } });
    if (role === undefined) return;
    await untilConfigured(name, "worker");
    await api.patch(`/api/v1/nodes/${name}`, { metadata: { labels: { [`node-role.kubernetes.io/${role}`]: "" } } });
    await untilConfigured(name, role);
  }

  async function untilConfigured(name: string, pool: string): Promise<void> {
    const isDone = async () => {
      const annotations = fieldAt(await api.read(`/api/v1/nodes/${name}`), "metadata", "annotations");
      const [current, state] = ["currentConfig", "state"].map((key) => {
        return String(fieldAt(annotations, `machineconfiguration.openshift.io/${key}`));
      });
      return current?.startsWith(`rendered-${pool}-`) === true && state === "Done";
    };
    await eventually(`${name} runs the configuration of pool ${pool}`, isDone, { withinMs: settledWithinMs });
  }

  async function overall(): Promise<string> {
    const conditions = fieldAt(await api.read(configPath), "status", "conditions");
    const found = (Array.isArray(conditions) ? (conditions as readonly unknown[]) : []).find((condition) => {
      return fieldAt(condition, "type") === "HardwareOffload";
    });
    const texts = ["status", "reason", "message"].map((field) => fieldAt(found, field));
    return found === undefined ? "" : texts.join(" ");
  }

  if (isOpenshift) {
    for (const file of await openshiftCrds()) await cluster.applyCrds(file);
    for (const object of openshiftObjects) await create(object);
  }
  await createOperatorConfig(testCluster);
  await addNode("worker-0");
  const machineConfigOperator = testCluster.use(
    simulateMachineConfigOperator({
      transport,
      async onReboot(node, config) {
        await onReboot?.(node, config);
        reboots.push(node);
      },
    }),
  );
  return {
    testCluster,
    api,
    machineConfigOperator,
    reboots,
    create,
    addNode,
    untilConfigured,
    overall,
    async select(...entries) {
      await api.patch(configPath, { spec: { ovnHardwareOffload: entries.length === 0 ? null : entries } });
    },
    async untilOverall(...words) {
      const holds = async () => {
        const text = await overall();
        if (words.every((word) => text.includes(word))) return true;
        throw new Error(text);
      };
      await eventually(`the condition says ${words.join(", ")}`, holds, { withinMs: settledWithinMs });
    },
    [Symbol.asyncDispose]: () => testCluster[Symbol.asyncDispose](),
  };
}

/** Reports whether the merged configuration contains the units of ovn-offload. */
export function isOffloaded({ config }: MergedMachineConfig): boolean {
  return JSON.stringify(config.systemd ?? {}).includes("/enoent");
}

/**
 * setOpenshiftVersion does what the cluster version operator does when an update begins: it names the release in the status.
 */
export async function setOpenshiftVersion({ api }: OffloadCluster, version: string): Promise<void> {
  const desired = { version, image: `example.com/release:${version}` };
  await api.patch(path, { status: { desired, observedGeneration: 1, versionHash: "x", availableUpdates: [] } });
}
