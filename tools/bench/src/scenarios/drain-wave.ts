// SPDX-License-Identifier: Apache-2.0
/**
 * measureDrainWave lets many nodes of a pool request a drain at the same time. It measures how many drain at once and
 * how long a free slot stays free. Daemons are simulated: each waits until its node is drained, works for a while, and
 * is idle.
 */
import {
  annotations,
  nodes as nodeType,
  sriovNetworkNodeStates,
  sriovNetworkPoolConfigs,
  type DrainRequest,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import { objectPath } from "@switchyard/kube";
import { mapConcurrently } from "@switchyard/service";
import { eventually } from "@switchyard/testing";
import type { StepBench } from "../cluster/measure-step.ts";
import { nodeName, operatorNamespace } from "../cluster/nodes.ts";
import type { PlainClient } from "../cluster/plain-client.ts";
import { pause } from "../harness/run.ts";

/** The figures of many concurrent drains. */
export interface DrainWave {
  readonly nodes: number;
  /** The number of nodes that the pool allows to drain at once. */
  readonly limit: number;
  /** The largest number of nodes that drained at once. */
  readonly peak: number;
  /** The number of started drains; more than `nodes` if a node was drained twice. */
  readonly starts: number;
  /** The longest time between the end of a drain and the start of the next; 0 if no node had to wait. */
  readonly longestGapSeconds: number;
  readonly allSeconds: number;
  /** CPU time of the operator. */
  readonly cpuSeconds: number;
}

interface SeenState {
  readonly name: string;
  readonly desired: string;
  readonly current: string;
}

/** DrainLog computes the figures from the watch events of the node states. Pure. */
interface DrainLog {
  /** Records a state. Returns "drained" if the node's daemon may start its work now. */
  saw(state: SeenState, nowMs: number): "drained" | undefined;
  /** Records that a daemon is about to request Idle. */
  freed(nowMs: number): void;
  /** Number of nodes whose drain is complete. */
  readonly ended: number;
  /** Number of nodes that are draining or drained. */
  readonly busy: number;
  result(allSeconds: number, cpuSeconds: number): Omit<DrainWave, "nodes">;
}

/** maxUnavailable of the pool. */
const share = 0.1;

/** How long a simulated daemon works on a drained node. */
const workMs = 200;

const label = "example.com/drain-wave";

/** Drains the first `size` nodes of the fleet. */
export async function measureDrainWave(
  { run, cluster, service: operator }: Pick<StepBench, "run" | "cluster" | "service">,
  size: number,
): Promise<DrainWave> {
  const { admin } = cluster;
  const { progress, signal } = run;
  const names = Array.from({ length: size }, (_, index) => nodeName(index));
  const forAll = (work: (name: string) => Promise<unknown>) => mapConcurrently(names, 32, work);

  progress.at(`creating a pool of ${size} nodes`);
  await forAll((name) => patchNode(admin, name, { labels: { [label]: "yes" } }));
  await admin.create(sriovNetworkPoolConfigs, pool);

  const log = createDrainLog(Math.max(1, Math.floor(size * share)));
  const members = new Set(names);
  async function work(name: string): Promise<void> {
    await pause(workMs, signal);
    log.freed(performance.now());
    await request(admin, name, "Idle");
  }
  await cluster.watch(sriovNetworkNodeStates, readState, (seen) => {
    if (!members.has(seen.name)) return;
    if (log.saw(seen, performance.now()) === "drained") work(seen.name).catch(run.fail);
  });

  const cpuBefore = operator.read().cpuSeconds;
  const beginMs = performance.now();
  progress.at(`draining ${size} nodes`, () => `${log.ended} of ${size} done, ${log.busy} draining or drained`);
  await forAll((name) => request(admin, name, "Drain_Required"));
  const areDone = () => log.ended === size;
  await eventually("all nodes are drained and idle again", areDone, { withinMs: 300_000, everyMs: 20, signal });
  const wave = log.result((performance.now() - beginMs) / 1000, operator.read().cpuSeconds - cpuBefore);
  return { ...wave, nodes: size };
}

const pool = {
  metadata: { name: "drain-wave", namespace: operatorNamespace },
  spec: { nodeSelector: { matchLabels: { [label]: "yes" } }, maxUnavailable: `${share * 100}%` },
};

/** Writes both annotations, the Node's first, as a daemon does. */
async function request(admin: PlainClient, name: string, request: DrainRequest): Promise<void> {
  await patchNode(admin, name, { annotations: { [annotations.nodeState]: request } });
  const path = objectPath(sriovNetworkNodeStates, { name, namespace: operatorNamespace });
  await admin.merge(path, { metadata: { annotations: { [annotations.desiredState]: request } } });
}

async function patchNode(admin: PlainClient, name: string, metadata: object): Promise<void> {
  await admin.merge(objectPath(nodeType, { name }), { metadata });
}

function readState({ metadata: { name, annotations: texts = {} } }: SriovNetworkNodeState): SeenState {
  const text = (key: string) => texts[key] ?? "Idle";
  return { name, desired: text(annotations.desiredState), current: text(annotations.currentState) };
}

export function createDrainLog(limit: number): DrainLog {
  const current = new Map<string, string>();
  const ended = new Set<string>();
  const starts: number[] = [];
  const freed: number[] = [];
  let busy = 0;
  let peak = 0;

  return {
    get ended() {
      return ended.size;
    },
    get busy() {
      return busy;
    },
    saw(state, nowMs) {
      const before = current.get(state.name) ?? "Idle";
      if (before === state.current) return undefined;
      current.set(state.name, state.current);
      busy += Number(state.current !== "Idle") - Number(before !== "Idle");
      peak = Math.max(peak, busy);
      if (before === "Idle") starts.push(nowMs);
      if (state.current === "Idle") ended.add(state.name);
      return state.current === "DrainComplete" && state.desired !== "Idle" ? "drained" : undefined;
    },
    freed(nowMs) {
      freed.push(nowMs);
    },
    result(allSeconds, cpuSeconds) {
      // The first `limit` drains found free slots; each later drain took the next slot that became free.
      const gaps = starts.slice(limit).map((startMs, index) => startMs - (freed[index] ?? startMs));
      const longestGapSeconds = Math.max(0, ...gaps) / 1000;
      return { limit, peak, starts: starts.length, longestGapSeconds, allSeconds, cpuSeconds };
    },
  };
}
