// SPDX-License-Identifier: Apache-2.0
/**
 * createRefusalMemory remembers disruptive changes that the host refuses. Each attempt costs the pods of the node.
 * Therefore a change that has failed several times in the same way is not tried again until its inputs change or a long
 * time has passed. The memory ends with the process: a restart tries everything again.
 */
import type { RefusedChange } from "@switchyard/api";
import { isDeepStrictEqual } from "node:util";

export interface RefusalMemory {
  /** Returns the change of `id` that must not be tried again now. `inputs` are the present ones. */
  refusalOf(id: string, inputs: unknown): RefusedChange | undefined;
  /** A disruptive change of `id` was tried. An attempt without errors succeeded. */
  tried(id: string, attempt: Attempt): void;
}

/** What has been tried, on what, and the answer. */
export interface Attempt {
  readonly changes: readonly string[];
  readonly errors: readonly string[];
  /** The errors without explanations, which can differ from attempt to attempt; `errors` by default. */
  readonly answers?: readonly string[];
  /** What decides about the answer of the host. Values that an attempt itself changes are not part of it. */
  readonly inputs: unknown;
}

/** Equal failures after which a change is not tried again. */
const maxAttempts = 3;

/**
 * First and longest time after which it is tried again nevertheless, once. What refuses it may be invisible, such as a
 * setting of the firmware, or last minutes, such as a reset of the card.
 */
const pause = { firstMs: 10 * 60_000, longestMs: 6 * 60 * 60_000 };

export function createRefusalMemory({ nowMs }: { readonly nowMs: () => number }): RefusalMemory {
  const byId = new Map<string, Refusal>();
  return {
    refusalOf(id, inputs) {
      const refusal = byId.get(id);
      if (refusal === undefined || nowMs() - refusal.atMs >= pauseAfter(refusal.count)) return undefined;
      const { changes, errors } = refusal.attempt;
      if (!isDeepStrictEqual(refusal.attempt.inputs, inputs)) return undefined;
      return { changes, error: errors.join("; "), attempts: refusal.count };
    },
    tried(id, attempt) {
      if (attempt.errors.length === 0) {
        byId.delete(id);
        return;
      }
      const before = byId.get(id);
      const isSame = before !== undefined && isDeepStrictEqual(comparable(before.attempt), comparable(attempt));
      byId.set(id, { attempt, count: isSame ? before.count + 1 : 1, atMs: nowMs() });
    },
  };
}

function comparable({ errors, answers = errors, ...others }: Attempt): unknown {
  return { ...others, answers };
}

interface Refusal {
  readonly attempt: Attempt;
  /** Number of equal attempts. */
  readonly count: number;
  /** Time of the last one. */
  readonly atMs: number;
}

/** Returns milliseconds. */
function pauseAfter(attempts: number): number {
  return attempts < maxAttempts ? 0 : Math.min(pause.firstMs * 2 ** (attempts - maxAttempts), pause.longestMs);
}
