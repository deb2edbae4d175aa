// SPDX-License-Identifier: Apache-2.0
/**
 * Whose turn it is: which of the nodes that wait may be drained now, and what each of the others waits for
 * (sriov-operator.md G). Pure.
 * Usage: `const { admitted, places } = planDrains(nodes, pools)`.
 *
 * Who asked first is served first. A node in several pools takes a slot of each and needs all of them free; until then it
 * keeps those that are free, or others would overtake it for ever.
 */
import type { Result } from "@switchyard/api";

/** Some nodes of which only so many are drained at once. */
export interface DrainPool {
  /** For people: 'pool "racks"'. */
  readonly title: string;
  /** Infinity: no limit. An error holds all drains, and says why. */
  readonly limit: Result<number, string>;
}

export interface DrainNode {
  readonly name: string;
  /** Names of its pools, at least one. */
  readonly pools: readonly string[];
  /**
   * "taking": it is being drained or is drained, so that it takes a slot. "resuming": so it was, and its answer got lost;
   * it waits before all others, as it still is what the limit is about: unavailable.
   */
  readonly phase: "idle" | "waiting" | "resuming" | "taking";
  /** When it began to wait. */
  readonly askedMs: number;
}

/** What a node waits for, and since when. */
export type Place = Pick<DrainNode, "askedMs"> &
  (
    | {
        readonly kind: "queued";
        readonly pool: DrainPool;
        /** Names of the nodes that take the slots, sorted. */
        readonly taking: readonly string[];
        /** Nodes that come before it. */
        readonly before: number;
      }
    | { readonly kind: "held"; readonly pool: DrainPool; readonly why: string }
  );

export interface DrainPlan {
  /** In order. */
  readonly admitted: readonly string[];
  /** Of the nodes that go on waiting. */
  readonly places: ReadonlyMap<string, Place>;
}

/** `pools` has each name that a node names. */
export function planDrains(nodes: readonly DrainNode[], pools: ReadonlyMap<string, DrainPool>): DrainPlan {
  const admitted: string[] = [];
  const places = new Map<string, Place>();
  const queues = new Map(Array.from(pools, ([name, pool]) => [name, openQueue(pool)]));
  const queuesOf = (node: DrainNode): readonly Queue[] => node.pools.flatMap((pool) => queues.get(pool) ?? []);
  for (const node of nodes.filter(({ phase }) => phase === "taking")) {
    for (const queue of queuesOf(node)) queue.taking.push(node.name);
  }
  for (const { taking } of queues.values()) taking.sort();

  for (const node of nodes.filter(waits).sort(byTurn)) {
    const { name, askedMs } = node;
    const mine = queuesOf(node);
    const held = mine.find(({ why }) => why !== undefined);
    const full = mine.find((queue) => queue.taking.length + queue.admitted + queue.before >= queue.limit);
    if (held?.why !== undefined) places.set(name, { kind: "held", askedMs, pool: held.pool, why: held.why });
    else if (full === undefined) admitted.push(name);
    else {
      const { pool, taking, before } = full;
      places.set(name, { kind: "queued", askedMs, pool, taking, before });
    }
    if (held !== undefined) continue; // It keeps nothing: it may wait for ever.
    for (const queue of mine) queue[full === undefined ? "admitted" : "before"]++;
  }
  return { admitted, places };
}

interface Queue {
  readonly pool: DrainPool;
  readonly limit: number;
  /** Why nobody is served. */
  readonly why: string | undefined;
  readonly taking: string[];
  admitted: number;
  /** Nodes so far that go on waiting. */
  before: number;
}

function openQueue(pool: DrainPool): Queue {
  const limit = pool.limit.ok ? pool.limit.value : 0;
  const why = pool.limit.ok ? (limit > 0 ? undefined : "its maxUnavailable is 0") : pool.limit.error;
  return { pool, limit, why, taking: [], admitted: 0, before: 0 };
}

function waits({ phase }: DrainNode): boolean {
  return phase === "waiting" || phase === "resuming";
}

function byTurn(a: DrainNode, b: DrainNode): number {
  if (a.phase !== b.phase) return a.phase === "resuming" ? -1 : 1;
  if (a.askedMs !== b.askedMs) return a.askedMs - b.askedMs;
  return a.name < b.name ? -1 : 1;
}
