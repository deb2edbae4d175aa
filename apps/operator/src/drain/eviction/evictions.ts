// SPDX-License-Identifier: Apache-2.0
/** Evictions evicts the pods of one node. A refused eviction is retried with increasing delays. */
import { backoffMs } from "@switchyard/kube";
import type { DrainedPod } from "@switchyard/policy";
import { mapConcurrently } from "@switchyard/service";
import type { RefusedEviction } from "../drain-conditions.ts";
import type { EvictionResult } from "./evict-pod.ts";

export interface Evictions {
  /** Evicts the pods whose next attempt is due. Pods that are terminating are not evicted again. */
  attempt(leaving: readonly DrainedPod[], signal: AbortSignal): Promise<EvictionRound>;
}

export interface EvictionRound {
  /** Pods whose last eviction the API server refused. */
  readonly refused: readonly RefusedEviction[];
  /** Time until the next attempt is due, 0 if it is due already, Infinity if no pod has to be evicted. */
  readonly nextMs: number;
}

export interface EvictionsDeps {
  readonly evict: (pod: DrainedPod, signal: AbortSignal) => Promise<EvictionResult>;
  readonly limit: EvictionConcurrencyLimit;
  /** A monotonic clock. */
  readonly nowMs: () => number;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}

/**
 * EvictionConcurrencyLimit limits how many evictions run at once, over all nodes. Each node may always run one eviction
 * and takes the others from this shared limit. An eviction can hang for as long as an admission webhook does, and
 * evictions must not use up the connections to the API server that the Lease renewal needs.
 */
interface EvictionConcurrencyLimit {
  /** Takes as many as are free, at most `most`, and returns their number. */
  acquire(most: number): number;
  release(count: number): void;
}

/**
 * The first retry comes after 1 s: budgets often free up by themselves, or an administrator frees one and waits for it.
 */
const backoff = { baseMs: 1_000, maxMs: 30_000 };

/** An accepted eviction whose pod is still not terminating after this time is sent again. */
const acceptedMs = 5_000;

/** Most concurrent evictions for one node, including the one that is always allowed. */
const maxPerNode = 8;

/** After this time an attempt starts no more evictions, so that the pods that delay the drain are reported. */
const attemptMs = 5_000;

export function createEvictions({ evict, limit, nowMs, random }: EvictionsDeps): Evictions {
  /** The last eviction of each pod, by uid. */
  const attempts = new Map<string, Attempt>();

  async function evictOne(pod: DrainedPod, signal: AbortSignal): Promise<void> {
    const result = await evict(pod, signal);
    if (result.kind === "accepted") {
      attempts.set(pod.uid, { failures: 0, message: undefined, dueMs: nowMs() + acceptedMs });
      return;
    }
    const failures = (attempts.get(pod.uid)?.failures ?? 0) + 1;
    const waitMs = Math.max(result.retryAfterMs ?? 0, backoffMs(failures, backoff, random));
    attempts.set(pod.uid, { failures, message: result.message, dueMs: nowMs() + Math.min(waitMs, backoff.maxMs) });
  }

  function dueMs(uid: string): number {
    return attempts.get(uid)?.dueMs ?? -Infinity;
  }

  return {
    async attempt(leaving, signal) {
      const running = leaving.filter(({ endsBy }) => endsBy === undefined);
      const uids = new Set(running.map(({ uid }) => uid));
      for (const uid of attempts.keys()) if (!uids.has(uid)) attempts.delete(uid);

      const startedMs = nowMs();
      const due = running.filter(({ uid }) => dueMs(uid) <= startedMs);
      const more = limit.acquire(Math.min(due.length, maxPerNode) - 1);
      try {
        await mapConcurrently(due, 1 + more, async (pod) => {
          if (nowMs() - startedMs < attemptMs) await evictOne(pod, signal);
        });
      } finally {
        limit.release(more);
      }

      const refused = running.flatMap((pod) => {
        const message = attempts.get(pod.uid)?.message;
        return message === undefined ? [] : [{ pod, message }];
      });
      const nextMs = Math.min(...running.map(({ uid }) => dueMs(uid))) - nowMs();
      return { refused, nextMs: Math.max(0, nextMs) };
    },
  };
}

interface Attempt {
  /** Refusals in a row. */
  readonly failures: number;
  /** Why the eviction was refused; undefined if it was accepted. */
  readonly message: string | undefined;
  /** When the pod is evicted next. */
  readonly dueMs: number;
}

export function createEvictionConcurrencyLimit(count: number): EvictionConcurrencyLimit {
  let free = count;
  return {
    acquire(most) {
      const acquired = Math.max(0, Math.min(free, most));
      free -= acquired;
      return acquired;
    },
    release(released) {
      free += released;
    },
  };
}
