// SPDX-License-Identifier: Apache-2.0
/**
 * createOutageLog logs failures that are retried: once for each outage and cause. A process has dozens of watches, and while the API
 * server is away each of them fails every few seconds with the same words. An outage has ended when a cause did not occur for a minute.
 * While it goes on, a line every ten minutes has the number of failures.
 * Usage: `const failed = createOutageLog(log); failed({ resource, ageMs, error }, "watch failed; retrying");`.
 */
import type { LogFields, Logger } from "./logger.ts";

/** Logs a failure, unless it is known. `error` belongs to the fields. */
export type OutageLog = (fields: LogFields & { readonly error: unknown }, message: string) => void;

interface Outage {
  readonly lastMs: number;
  readonly loggedMs: number;
  /** Failures that were not logged. */
  readonly silent: number;
}

export function createOutageLog(log: Pick<Logger, "warn">, nowMs: () => number = () => performance.now()): OutageLog {
  const outages = new Map<string, Outage>();

  return function failed(fields, message) {
    const atMs = nowMs();
    for (const [cause, { lastMs }] of outages) if (atMs - lastMs >= endMs) outages.delete(cause);
    const cause = `${message} ${causeOf(fields.error)}`;
    const outage = outages.get(cause);
    if (outage !== undefined && atMs - outage.loggedMs < reminderMs) {
      outages.set(cause, { ...outage, lastMs: atMs, silent: outage.silent + 1 });
      return;
    }
    outages.set(cause, { lastMs: atMs, loggedMs: atMs, silent: 0 });
    log.warn(outage === undefined ? fields : { ...fields, failures: outage.silent + 1 }, message);
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
