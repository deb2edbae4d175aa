// SPDX-License-Identifier: Apache-2.0
/**
 * planDrains decides which of the waiting nodes may be drained now, and computes the queue position of the others
 * (sriov-operator.md G). Pure.
 *
 * Nodes are served in the order of their requests. A node in several pools needs a free slot in each of them. While it
 * waits, it reserves the slots that are free, because otherwise other nodes could overtake it for ever.
 */
import type { Result } from "@switchyard/api";

/** A set of nodes of which only a limited number may be drained at once. */
export interface DrainPool {
  /** Name in messages: 'pool "racks"'. */
  readonly title: string;
  /** Most nodes that may be drained at once; Infinity for no limit. An error holds all drains and is their reason. */
  readonly limit: Result<number, string>;
}

export interface DrainNode {
  readonly name: string;
  /** Names of the pools that the node is in, at least one. */
  readonly pools: readonly string[];
  /**
   * "holding": the node is being drained or is drained, and holds a slot. "resuming": it was drained, but its answer is
   * lost. It comes before all waiting nodes, because it is still unavailable, which is what the pool's limit is about.
   */
  readonly phase: "idle" | "waiting" | "resuming" | "holding";
  /** When the node requested the drain. */
  readonly requestedMs: number;
}

/** What a node waits for, and since when. */
export type QueuePosition = Pick<DrainNode, "requestedMs"> &
  (
    | {
        readonly kind: "queued";
        readonly pool: DrainPool;
        /** Sorted names of the nodes that hold the slots. */
        readonly holders: readonly string[];
        /** Number of waiting nodes that come first. */
        readonly ahead: number;
      }
    | { readonly kind: "held"; readonly pool: DrainPool; readonly reason: string }
  );

export interface DrainPlan {
  /** Names of the nodes that get a slot, in order. */
  readonly admitted: readonly string[];
  /** Positions of the nodes that continue to wait, by name. */
  readonly positions: ReadonlyMap<string, QueuePosition>;
}

/** `pools` must contain each pool that a node names. */
export function planDrains(nodes: readonly DrainNode[], pools: ReadonlyMap<string, DrainPool>): DrainPlan {
  const admitted: string[] = [];
  const positions = new Map<string, QueuePosition>();
  const queues = new Map(Array.from(pools, ([name, pool]) => [name, openQueue(pool)]));
  const queuesOf = (node: DrainNode): readonly Queue[] => node.pools.flatMap((pool) => queues.get(pool) ?? []);
  for (const node of nodes.filter(({ phase }) => phase === "holding")) {
    for (const queue of queuesOf(node)) queue.holders.push(node.name);
  }
  for (const { holders } of queues.values()) holders.sort();

  for (const node of nodes.filter(isWaiting).sort(byTurn)) {
    const { name, requestedMs } = node;
    const own = queuesOf(node);
    const held = own.find(({ heldReason }) => heldReason !== undefined);
    const full = own.find((queue) => queue.holders.length + queue.admitted + queue.ahead >= queue.limit);
    if (held?.heldReason !== undefined) {
      positions.set(name, { kind: "held", requestedMs, pool: held.pool, reason: held.heldReason });
    } else if (full === undefined) admitted.push(name);
    else {
      const { pool, holders, ahead } = full;
      positions.set(name, { kind: "queued", requestedMs, pool, holders, ahead });
    }
    if (held !== undefined) continue; // it reserves nothing, because it may wait for ever
    for (const queue of own) queue[full === undefined ? "admitted" : "ahead"]++;
  }
  return { admitted, positions };
}

interface Queue {
  readonly pool: DrainPool;
  readonly limit: number;
  /** Why the pool allows no drains; undefined if it allows some. */
  readonly heldReason: string | undefined;
  readonly holders: string[];
  admitted: number;
  /** Number of nodes, so far, that continue to wait. */
  ahead: number;
}

function openQueue(pool: DrainPool): Queue {
  const limit = pool.limit.ok ? pool.limit.value : 0;
  const heldReason = pool.limit.ok ? (limit > 0 ? undefined : "its maxUnavailable is 0") : pool.limit.error;
  return { pool, limit, heldReason, holders: [], admitted: 0, ahead: 0 };
}

function isWaiting({ phase }: DrainNode): boolean {
  return phase === "waiting" || phase === "resuming";
}

function byTurn(a: DrainNode, b: DrainNode): number {
  if (a.phase !== b.phase) return a.phase === "resuming" ? -1 : 1;
  if (a.requestedMs !== b.requestedMs) return a.requestedMs - b.requestedMs;
  return a.name < b.name ? -1 : 1;
}
