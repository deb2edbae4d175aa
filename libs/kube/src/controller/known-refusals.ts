// SPDX-License-Identifier: Apache-2.0
/**
 * KnownRefusals remembers the answers by which the API server refused requests, so that a log has each answer once and not
 * at each retry. The answer stays the same until somebody changes an object, a CustomResourceDefinition or a role.
 * Usage: `log[refusals.add(key, error) === "known" ? "debug" : "warn"]({ error }, "status not written; retrying")`.
 */
import { isKubeError } from "../http/kube-error.ts";

export interface KnownRefusals {
  /**
   * Remembers the answer for this key. "known" means that it was remembered already. Other failures, such as lost
   * connections, conflicts and requests to slow down, are always "new": their number says how long they last.
   */
  add(key: string, error: unknown): "new" | "known";
  /** Forgets all answers for this key, after a success. */
  forget(key: string): void;
}

export function createKnownRefusals(): KnownRefusals {
  const known = new Map<string, Set<string>>();
  return {
    add(key, error) {
      const answer = answerOf(error);
      if (answer === undefined) return "new";
      const answers = known.get(key) ?? new Set();
      if (answers.has(answer)) return "known";
      // An answer that contains a time or a counter differs each time.
      if (answers.size >= maxAnswers) answers.clear();
      known.set(key, answers.add(answer));
      return "new";
    },
    forget(key) {
      known.delete(key);
    },
  };
}

/** Most answers that are remembered for one key. */
const maxAnswers = 16;

/** HTTP statuses after which the same request can succeed without a change of an object: Timeout, Conflict, Too Many Requests. */
const temporary: readonly number[] = [408, 409, 429];

function answerOf(error: unknown): string | undefined {
  if (!isKubeError(error)) return undefined;
  const { status = 0, message } = error;
  return status >= 400 && status < 500 && !temporary.includes(status) ? message : undefined;
}
