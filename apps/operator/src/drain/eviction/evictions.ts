// SPDX-License-Identifier: Apache-2.0
/**
 * The evictions of one node's pods: each pod is asked to go, and where that is refused, asked again, later each time.
 * Usage: `const round = await evictions.attempt(leaving, signal); … { afterMs: round.nextMs }`.
 */
import { backoffMs } from "@switchyard/kube";
import type { RefusedEviction } from "../drain-conditions.ts";
import type { EvictionResult } from "./evict-pod.ts";
import type { PodFacts } from "./pod-facts.ts";
import type { EvictionConcurrencyLimit } from "./eviction-concurrency-limit.ts";

export interface Evictions {
  /** Evicts those whose time has come. What is terminating is only waited for. */
  attempt(leaving: readonly PodFacts[], signal: AbortSignal): Promise<EvictionRound>;
}

export interface EvictionRound {
  /** What the API server refuses at present. */
  readonly refused: readonly RefusedEviction[];
  /** Until the next pod's time comes, 0 where it has come; Infinity where none is to be evicted. */
  readonly nextMs: number;
}

export interface EvictionsDeps {
  readonly evict: (pod: PodFacts, signal: AbortSignal) => Promise<EvictionResult>;
  readonly spare: EvictionConcurrencyLimit;
  /** Monotonic. */
  readonly nowMs: () => number;
  /** In [0, 1). */
  readonly random: () => number;
}

/** Refused pods come again after 1 s at first: whoever frees a budget waits for us, and many budgets free themselves. */
const backoff = { baseMs: 1_000, maxMs: 30_000 };

/** An accepted pod that does not end shows so after this time, and is asked again. */
const acceptedMs = 5_000;

/** Of one node, its own one among them. */
const mostHands = 8;

/** After this time no more pods are asked in one look: people shall hear of those that hold it up. */
const lookMs = 5_000;

export function createEvictions({ evict, spare, nowMs, random }: EvictionsDeps): Evictions {
  /** Pods that were asked, by uid. */
  const asked = new Map<string, Asked>();

  async function ask(pod: PodFacts, signal: AbortSignal): Promise<void> {
    const result = await evict(pod, signal);
    if (result.kind === "accepted") {
      asked.set(pod.uid, { failures: 0, message: undefined, dueMs: nowMs() + acceptedMs });
      return;
    }
    const failures = (asked.get(pod.uid)?.failures ?? 0) + 1;
    const waitMs = Math.max(result.retryAfterMs ?? 0, backoffMs(failures, backoff, random));
    asked.set(pod.uid, { failures, message: result.message, dueMs: nowMs() + Math.min(waitMs, backoff.maxMs) });
  }

  function dueMs(uid: string): number {
    return asked.get(uid)?.dueMs ?? -Infinity;
  }

  return {
    async attempt(leaving, signal) {
      const here = leaving.filter(({ endsBy }) => endsBy === undefined);
      const uids = new Set(here.map(({ uid }) => uid));
      for (const uid of asked.keys()) if (!uids.has(uid)) asked.delete(uid);

      const beginMs = nowMs();
      const due = here.filter(({ uid }) => dueMs(uid) <= beginMs);
      const hand = async (): Promise<void> => {
        while (nowMs() - beginMs < lookMs) {
          const pod = due.shift();
          if (pod === undefined) return;
          await ask(pod, signal);
        }
      };
      const more = spare.take(Math.min(due.length, mostHands) - 1);
      try {
        await Promise.all(Array.from({ length: 1 + more }, hand));
      } finally {
        spare.giveBack(more);
      }

      const refused = here.flatMap((pod) => {
        const message = asked.get(pod.uid)?.message;
        return message === undefined ? [] : [{ pod, message }];
      });
      const nextMs = Math.min(...here.map(({ uid }) => dueMs(uid))) - nowMs();
      return { refused, nextMs: Math.max(0, nextMs) };
    },
  };
}

interface Asked {
  /** In a row. */
  readonly failures: number;
  /** Why not; undefined where it was accepted. */
  readonly message: string | undefined;
  /** When it is asked next. */
  readonly dueMs: number;
}
