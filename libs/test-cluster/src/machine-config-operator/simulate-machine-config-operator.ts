// SPDX-License-Identifier: Apache-2.0
/**
 * simulateMachineConfigOperator does for tests what OpenShift's machine config operator and its daemons do (smartnic.md
 * 2). It merges the MachineConfigs of each pool into one, and brings the nodes of the pool to it, one at a time, with a
 * reboot. It works on the objects of a real API server only.
 * Usage: `await using operator = simulateMachineConfigOperator({ transport, onReboot }); operator.degrade("worker-1");`
 */
import {
  annotations,
  machineConfigPools,
  machineConfigs,
  nodes as nodeType,
  type MachineConfigPool,
  type Node,
  type ResourceType,
} from "@switchyard/api";
import { isKubeError, listPages, objectPath, type KubeObject, type Transport } from "@switchyard/kube";
import { downloadGoModule } from "@switchyard/testing";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { mergeMachineConfigs, selects, type MergedMachineConfig } from "./merge-machine-configs.ts";

const openshiftApi = "github.com/openshift/api@v0.0.0-20251015095338-264e80a2b6e7";

const checksum = "h1:Ot2fbEEPmF3WlPQkyEW/bUCV38GMugH/UmZvxpWceNc=";

const files = [
  "machineconfiguration/v1/zz_generated.crd-manifests/0000_80_machine-config_01_machineconfigs.crd.yaml",
  "machineconfiguration/v1/zz_generated.crd-manifests/0000_80_machine-config_01_machineconfigpools.crd.yaml",
  "operator/v1/zz_generated.crd-manifests/0000_70_dns_00_dnses.crd.yaml",
  "operator/v1/zz_generated.crd-manifests/0000_70_network_01_networks.crd.yaml",
  "config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusterversions-Default.crd.yaml",
];

export interface MachineConfigOperatorOptions {
  readonly transport: Transport;
  /** Called when a node reboots with a new configuration. The node has it when the promise resolves. */
  readonly onReboot?: (node: string, config: MergedMachineConfig) => Promise<void>;
  /** Time between two rounds. In each, a node does at most one step. */
  readonly everyMs?: number;
  /** Called with an error of a round. The next round tries again. */
  readonly report?: (error: unknown) => void;
}

export interface SimulatedMachineConfigOperator extends AsyncDisposable {
  /** Lets the next change of this node fail, or succeed again. */
  degrade(node: string, isDegraded?: boolean): void;
  /** Holds back all reboots, or lets them happen again. Nodes that have started stay in the state "Working". */
  hold(isHeld?: boolean): void;
}

const stateOfNode = "machineconfiguration.openshift.io/state";

/** Disposing it ends the rounds. */
export function simulateMachineConfigOperator(options: MachineConfigOperatorOptions): SimulatedMachineConfigOperator {
  const { transport, onReboot, everyMs = 100, report } = options;
  const end = new AbortController();
  const degraded = new Set<string>();
  let isHeld = false;
  const rounds = runRounds();

  async function runRounds(): Promise<void> {
    while (!end.signal.aborted) {
      await playRound().catch((error: unknown) => {
        if (!end.signal.aborted) report?.(error);
      });
      await sleep(everyMs, undefined, { signal: end.signal }).catch(() => undefined);
    }
  }

  async function playRound(): Promise<void> {
    const [pools, configs, nodes] = await Promise.all([
      listAll<MachineConfigPool>(machineConfigPools),
      listAll<KubeObject>(machineConfigs),
      listAll<Node>(nodeType),
    ]);
    for (const pool of pools) {
      const rendered = await render(pool, configs);
      const ofPool = nodes.filter((node) => poolOf(node, pools) === pool);
      await moveNodes(pool, ofPool, rendered);
    }
  }

  /** Writes the merged MachineConfig, and the pool's target. */
  async function render(pool: MachineConfigPool, configs: readonly KubeObject[]): Promise<Rendered> {
    const sources = configs.filter(({ metadata: { labels = {}, name } }) => {
      return !name.startsWith("rendered-") && selects(pool.spec?.machineConfigSelector, labels);
    });
    const spec = mergeMachineConfigs(sources);
    const { name: poolName, uid = "" } = pool.metadata;
    const name = `rendered-${poolName}-${createHash("sha256").update(JSON.stringify(spec)).digest("hex").slice(0, 32)}`;
    if (!configs.some(({ metadata }) => metadata.name === name)) {
      const owner = { ...typeOf(machineConfigPools), name: poolName, uid };
      await create({ ...typeOf(machineConfigs), metadata: { name, ownerReferences: [owner] }, spec });
    }
    const source = sources.map(({ metadata: { name: of } }) => ({ ...typeOf(machineConfigs), name: of }));
    const configuration = { name, source };
    if (!isDeepStrictEqual(pool.spec?.configuration, configuration)) {
      await patch(objectPath(machineConfigPools, pool.metadata), { spec: { configuration } });
    }
    return { configuration, spec };
  }

  /** Lets one node of the pool do its next step, and writes the status of the pool. */
  async function moveNodes(pool: MachineConfigPool, nodes: readonly Node[], rendered: Rendered): Promise<void> {
    const { name: target } = rendered.configuration;
    for (const node of nodes)
      if (noteOf(node, annotations.currentMachineConfig) === "") await setNode(node, target, target, "Done");
    const behind = nodes.filter((node) => ![target, ""].includes(noteOf(node, annotations.currentMachineConfig)));
    const next = behind.find((node) => noteOf(node, stateOfNode) === "Working") ?? behind[0];
    if (pool.spec?.paused !== true && next !== undefined) await moveNode(next, rendered);
    await writeStatus(pool, nodes, { rendered, behind });
  }

  async function moveNode(node: Node, { configuration: { name: target }, spec }: Rendered): Promise<void> {
    const current = noteOf(node, annotations.currentMachineConfig);
    if (degraded.has(node.metadata.name)) return setNode(node, current, target, "Degraded");
    if (noteOf(node, stateOfNode) !== "Working" || noteOf(node, annotations.desiredMachineConfig) !== target)
      return setNode(node, current, target, "Working");
    if (isHeld) return;
    await onReboot?.(node.metadata.name, spec);
    await setNode(node, target, target, "Done");
  }

  async function setNode(node: Node, current: string, desired: string, state: string): Promise<void> {
    const wanted = {
      [annotations.currentMachineConfig]: current,
      [annotations.desiredMachineConfig]: desired,
      [stateOfNode]: state,
    };
    if (Object.entries(wanted).every(([key, value]) => noteOf(node, key) === value)) return;
    await patch(objectPath(nodeType, node.metadata), { metadata: { annotations: wanted } });
  }

  async function writeStatus(
    pool: MachineConfigPool,
    nodes: readonly Node[],
    { rendered: { configuration }, behind }: { readonly rendered: Rendered; readonly behind: readonly Node[] },
  ): Promise<void> {
    const failed = nodes.filter(({ metadata: { name } }) => degraded.has(name) && isIn(behind, name));
    const isUpdated = behind.length === 0;
    const isPaused = pool.spec?.paused === true;
    const status = {
      machineCount: nodes.length,
      updatedMachineCount: nodes.length - behind.length,
      readyMachineCount: nodes.length - behind.length,
      unavailableMachineCount: isUpdated || isPaused ? 0 : 1,
      degradedMachineCount: failed.length,
      configuration: isUpdated ? configuration : (pool.status?.configuration ?? {}),
      conditions: [
        condition(pool, "Updated", isUpdated),
        condition(pool, "Updating", !isUpdated && !isPaused),
        condition(pool, "Degraded", failed.length > 0),
        condition(pool, "NodeDegraded", failed.length > 0),
        condition(pool, "RenderDegraded", false),
      ],
    };
    if (isDeepStrictEqual(pool.status, { ...pool.status, ...status })) return;
    await patch(`${objectPath(machineConfigPools, pool.metadata)}/status`, { status });
  }

  async function listAll<T extends KubeObject>(type: ResourceType): Promise<readonly T[]> {
    const all: T[] = [];
    for await (const { items } of listPages(transport, { type, signal: end.signal }))
      all.push(...(items as readonly T[]));
    return all;
  }

  async function create(body: object): Promise<void> {
    const path = "/apis/machineconfiguration.openshift.io/v1/machineconfigs";
    try {
      await transport.request({ method: "POST", path, body, signal: end.signal });
    } catch (error) {
      if (!isKubeError(error, "AlreadyExists", "Conflict")) throw error;
    }
  }

  async function patch(path: string, body: object): Promise<void> {
    const contentType = "application/merge-patch+json";
    await transport.request({ method: "PATCH", path, body, contentType, signal: end.signal });
  }

  return {
    degrade(node, isDegraded = true) {
      if (isDegraded) degraded.add(node);
      else degraded.delete(node);
    },
    hold(isToBeHeld = true) {
      isHeld = isToBeHeld;
    },
    async [Symbol.asyncDispose]() {
      end.abort();
      await rounds;
    },
  };
}

interface Rendered {
  readonly configuration: { readonly name: string; readonly source: readonly object[] };
  readonly spec: MergedMachineConfig;
}

/**
 * The pool that configures the node: master wins over custom pools, which win over worker. A node in several custom pools
 * has none.
 */
function poolOf(node: Node, all: readonly MachineConfigPool[]): MachineConfigPool | undefined {
  const matching = all.filter(({ spec }) => selects(spec?.nodeSelector, node.metadata.labels ?? {}));
  const named = (name: string) => matching.find(({ metadata }) => metadata.name === name);
  const custom = matching.filter(({ metadata }) => metadata.name !== "master" && metadata.name !== "worker");
  if (custom.length > 1) return undefined;
  return named("master") ?? custom[0] ?? named("worker");
}

function condition(pool: MachineConfigPool, type: string, isTrue: boolean) {
  const status = isTrue ? "True" : "False";
  const before = pool.status?.conditions?.find((each) => each.type === type);
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : new Date().toISOString();
  return { type, status, lastTransitionTime, reason: "", message: "" };
}

function noteOf({ metadata: { annotations: all = {} } }: Node, key: string): string {
  return all[key] ?? "";
}

function isIn(nodes: readonly Node[], name: string): boolean {
  return nodes.some(({ metadata }) => metadata.name === name);
}

function typeOf({ group, version, kind }: ResourceType) {
  return { apiVersion: `${group}/${version}`, kind };
}

/**
 * openshiftCrds returns the files with OpenShift's own CRDs of the kinds that ovn-offload reads and writes: MachineConfig,
 * MachineConfigPool, DNS, Network and ClusterVersion. They come from the Go module that OpenShift's client pins.
 * Rejects if Go is missing or the module cannot be downloaded.
 */
export async function openshiftCrds(): Promise<readonly string[]> {
  const directory = await downloadGoModule(openshiftApi, checksum);
  return files.map((file) => join(directory, file));
}
