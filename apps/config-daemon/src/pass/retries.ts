// SPDX-License-Identifier: Apache-2.0
/**
 * createRetries runs passes, decides when the next one follows, and reports errors that the pass itself does not report: a request
 * that the API server refuses, and bugs.
 */
import { createKnownRefusals, isKubeError, type Requeue } from "@switchyard/kube";
import type { Logger } from "@switchyard/service";
import type { Phase } from "../report/phase.ts";
import type { PassResult } from "./run-rounds.ts";

export interface RetriesDeps {
  readonly log: Logger;
  /** Aborted if the daemon stops. */
  readonly signal: AbortSignal;
}

/** The next pass is due after `afterMs` milliseconds, if no event starts one earlier. */
export interface PassOutcome extends Requeue {
  /** The pass ended by an error that it did not report. */
  readonly hasFailed: boolean;
}

/** Runs one pass. Rejects only if the daemon stops. `report` writes the phase of a pass that failed; it may reject. */
export type Retries = (
  pass: () => Promise<PassResult>,
  report: (phase: Phase & { readonly kind: "pass-failed" }) => Promise<void>,
) => Promise<PassOutcome>;

/** Longest time until the next pass if the failure of this one could not be reported. */
const unreportedMs = 5_000;

export function createRetries({ log, signal }: RetriesDeps): Retries {
  const refusals = createKnownRefusals();
  const levelOf = (what: "pass" | "status", error: unknown) => {
    return refusals.add(what, error) === "known" ? "debug" : "warn";
  };
  let failures = 0;

  return async function run(pass, report) {
    try {
      const result = await pass();
      for (const what of ["pass", "status"]) refusals.forget(what);
      failures = result === "retry" ? failures + 1 : 0;
      return { afterMs: pauseAfter(result, failures), hasFailed: false };
    } catch (error) {
      if (signal.aborted) throw error;
      failures += 1;
      log[levelOf("pass", error)]({ error, failures }, "pass failed; retrying");
      const isReported = await report({ kind: "pass-failed", message: describe(error) }).then(
        () => true,
        (cause: unknown) => {
          log[levelOf("status", cause)]({ error: cause }, "status update failed; retrying");
          return false;
        },
      );
      return {
        afterMs: Math.min(pauseAfter("retry", failures), isReported ? Infinity : unreportedMs),
        hasFailed: true,
      };
    }
  };
}

function describe(error: unknown): string {
  if (isKubeError(error)) return error.message;
  return error instanceof Error ? `unexpected ${error.name}: ${error.message}` : `unexpected error: ${String(error)}`;
}

/** Events report most changes. The periodic pass finds the others. */
const recheckMs = 5 * 60_000;

/** The operator merges the policies within a second of the first report. */
const unmergedMs = 5_000;

/** First and longest wait before failed steps are retried. */
const retry = { firstMs: 1_000, longestMs: 60_000 };

/**
 * pauseAfter returns the time until the next pass if no event starts one earlier.
 * Returns milliseconds. `failures` is the number of consecutive passes with the result "retry", including this one.
 */
function pauseAfter(result: PassResult, failures: number): number {
  if (result === "retry") return Math.min(retry.firstMs * 2 ** (failures - 1), retry.longestMs);
  if (result === "unmerged") return unmergedMs;
  return recheckMs * (0.9 + Math.random() * 0.2);
}
