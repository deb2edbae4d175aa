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
} from "@switchyard/api";
import { objectPath, type KubeObject } from "@switchyard/kube";
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

  const log = new DrainLog(Math.max(1, Math.floor(size * share)));
  const members = new Set(names);
  async function work(name: string): Promise<void> {
    await pause(workMs, signal);
    log.freedMs.push(performance.now());
    await request(admin, name, "Idle");
  }
  await cluster.watch(sriovNetworkNodeStates, readState, (seen) => {
    if (!members.has(seen.name)) return;
    if (log.saw(seen, performance.now())) work(seen.name).catch(run.fail);
  });

  const cpuBefore = operator.read().cpuSeconds;
  const beginMs = performance.now();
  progress.at(`draining ${size} nodes`, () => `${log.ended.size} of ${size} done, ${log.busy} draining or drained`);
  await forAll((name) => request(admin, name, "Drain_Required"));
  const areDone = () => log.ended.size === size;
  await eventually("all nodes are drained and idle again", areDone, { withinMs: 300_000, everyMs: 20, signal });
  return {
    nodes: size,
    ...log.figures(),
    allSeconds: (performance.now() - beginMs) / 1000,
    cpuSeconds: operator.read().cpuSeconds - cpuBefore,
  };
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

/** What a node requests, and how far its drain is. */
interface SeenState {
  readonly name: string;
  readonly desired: string;
  readonly current: string;
}

function readState({ metadata: { name, annotations: texts = {} } }: KubeObject): SeenState {
  const text = (key: string) => texts[key] ?? "Idle";
  return { name, desired: text(annotations.desiredState), current: text(annotations.currentState) };
}

/** DrainLog computes the figures from the states of the nodes, of which at most `limit` may drain at once. Pure. */
export class DrainLog {
  /** Nodes whose drain is complete. */
  readonly ended = new Set<string>();
  /** When daemons were about to request Idle. */
  readonly freedMs: number[] = [];
  readonly #limit: number;
  readonly #current = new Map<string, string>();
  readonly #startsMs: number[] = [];
  #busy = 0;
  #peak = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Number of nodes that are draining or drained. */
  get busy(): number {
    return this.#busy;
  }

  /** Records a state. Reports whether the node's daemon may start its work now. */
  saw({ name, desired, current }: SeenState, nowMs: number): boolean {
    const before = this.#current.get(name) ?? "Idle";
    if (before === current) return false;
    this.#current.set(name, current);
    this.#busy += Number(current !== "Idle") - Number(before !== "Idle");
    this.#peak = Math.max(this.#peak, this.#busy);
    if (before === "Idle") this.#startsMs.push(nowMs);
    if (current === "Idle") this.ended.add(name);
    return current === "DrainComplete" && desired !== "Idle";
  }

  figures(): Pick<DrainWave, "limit" | "peak" | "starts" | "longestGapSeconds"> {
    // The first `limit` drains found free slots; each later drain took the next slot that became free.
    const gaps = this.#startsMs.slice(this.#limit).map((startMs, index) => startMs - (this.freedMs[index] ?? startMs));
    const longestGapSeconds = Math.max(0, ...gaps) / 1000;
    return { limit: this.#limit, peak: this.#peak, starts: this.#startsMs.length, longestGapSeconds };
  }
}
