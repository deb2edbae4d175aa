// SPDX-License-Identifier: Apache-2.0
/**
 * createFailureLog logs failures that are retried: once for each cause, and then every ten minutes with their number. A process has
 * dozens of watches, and one that lacks a right fails every few seconds with the same words. A cause is over when it did not occur for
 * a minute. Lines about an outage of the API server are passed on: connectToCluster's log counts them.
 * Usage: `const failed = createFailureLog(log); failed({ resource, ageMs, error }, "watch failed; retrying");`.
 */
import type { LogFields, Logger } from "../logger.ts";
import { isOutage } from "./outage-log.ts";

/** Logs a failure, unless it is known. `error` belongs to the fields. */
export type FailureLog = (fields: LogFields & { readonly error: unknown }, message: string) => void;

interface Failure {
  readonly lastMs: number;
  readonly loggedMs: number;
  /** Failures that were not logged. */
  readonly silent: number;
}

export function createFailureLog(log: Pick<Logger, "warn">, nowMs: () => number = () => performance.now()): FailureLog {
  const known = new Map<string, Failure>();

  return function failed(fields, message) {
    if (isOutage(fields.error)) {
      log.warn(fields, message);
      return;
    }
    const atMs = nowMs();
    for (const [cause, { lastMs }] of known) if (atMs - lastMs >= endMs) known.delete(cause);
    const cause = `${message} ${causeOf(fields.error)}`;
    const before = known.get(cause);
    if (before !== undefined && atMs - before.loggedMs < reminderMs) {
      known.set(cause, { ...before, lastMs: atMs, silent: before.silent + 1 });
      return;
    }
    known.set(cause, { lastMs: atMs, loggedMs: atMs, silent: 0 });
    log.warn(before === undefined ? fields : { ...fields, failures: before.silent + 1 }, message);
  };
}

/** Returns the words of the error without the request, which differs from watch to watch. */
function causeOf(error: unknown): string {
  if (typeof error !== "object" || error === null || !("message" in error)) return String(error);
  const message = String(error.message);
  const tried = "tried" in error && typeof error.tried === "string" ? `${error.tried}: ` : "";
  return message.startsWith(tried) ? message.slice(tried.length) : message;
}

const endMs = 60_000;
const reminderMs = 10 * 60_000;
