// SPDX-License-Identifier: Apache-2.0
/**
 * createOutageLog keeps a log readable while the API server does not answer. A process has dozens of watches, and each of
 * them fails and is retried. Instead of a line for each attempt, there is one line for the outage and one for each further
 * cause, a summary each minute, and one line on recovery. Lines about other errors are written as they are.
 * Usage: `const outage = createOutageLog(log); outage.log.warn({ resource, error }, "watch failed; retrying");`
 */
import { isKubeError, systemClock, type Clock, type KubeError } from "@switchyard/kube";
import type { LogFields, Logger, LogMethod } from "../logger.ts";

export interface OutageLog {
  /** Writes to the given log. A line whose field `error` says that the API server does not answer is counted instead. */
  readonly log: Logger;
  /** Must be called for each answer of the API server, also for a refusal. */
  readonly answered: () => void;
  /** Must be called when time has passed; a timer does so each 5 s during an outage. */
  readonly tick: () => void;
}

export interface OutageLogOptions {
  readonly clock?: Pick<Clock, "nowMs">;
  /** Calls `tick` periodically until the returned function is called. Default: an interval that does not keep the process alive. */
  readonly every?: (tick: () => void) => () => void;
}

interface Outage {
  readonly sinceMs: number;
  /** Causes that have a line. */
  readonly causes: Set<string>;
  /** Failures since the beginning, by message. */
  readonly failures: Map<string, number>;
  summaryAtMs: number;
  lastFailureMs: number;
  /** Time of the first answer after the last failure; undefined if there is none. */
  answeredMs: number | undefined;
}

const summaryEveryMs = 60_000;
/** The pause between two attempts of a watch is at most 15 s. Without a failure for longer, the outage is over. */
const quietMs = 20_000;
/** An outage has few causes: refused, reset, not ready. More of them are in the summary only. */
const maxCauses = 5;

export function createOutageLog(target: Logger, options: OutageLogOptions = {}): OutageLog {
  const { clock = systemClock, every = everyFiveSeconds } = options;
  let outage: Outage | undefined;
  let stopTicks: (() => void) | undefined;

  function failed(error: KubeError, message: string): void {
    const nowMs = clock.nowMs();
    const cause = causeOf(error);
    if (outage === undefined) {
      outage = {
        sinceMs: nowMs,
        causes: new Set(),
        failures: new Map(),
        summaryAtMs: nowMs + summaryEveryMs,
        lastFailureMs: nowMs,
        answeredMs: undefined,
      };
      stopTicks = every(tick);
    }
    outage.lastFailureMs = nowMs;
    outage.answeredMs = undefined;
    outage.failures.set(message, (outage.failures.get(message) ?? 0) + 1);
    if (outage.causes.has(cause) || outage.causes.size >= maxCauses) return;
    outage.causes.add(cause);
    target.warn({ cause, first: message }, "API server does not answer; retrying");
  }

  function tick(): void {
    if (outage === undefined) return;
    const nowMs = clock.nowMs();
    const { sinceMs, answeredMs, lastFailureMs } = outage;
    const failures = Object.fromEntries(outage.failures);
    if (answeredMs !== undefined && nowMs - lastFailureMs >= quietMs) {
      target.info({ seconds: seconds(answeredMs - sinceMs), failures }, "API server answers again");
      outage = undefined;
      stopTicks?.();
      return;
    }
    if (nowMs < outage.summaryAtMs) return;
    outage.summaryAtMs = nowMs + summaryEveryMs;
    target.warn(
      { seconds: seconds(nowMs - sinceMs), failures },
      "API server still does not answer all requests; retrying",
    );
  }

  return {
    log: interceptErrors(target, (error, message) => {
      if (!isOutage(error)) return false;
      failed(error, message);
      return true;
    }),
    tick,
    answered() {
      if (outage !== undefined) outage.answeredMs ??= clock.nowMs();
    },
  };
}

/** Returns a log without the lines at levels warn and error whose field `error` was taken: then `take` returns true. */
export function interceptErrors(target: Logger, take: (error: unknown, message: string) => boolean): Logger {
  const quiet = (level: "warn" | "error"): LogMethod => {
    return (first: LogFields | string, message?: string): void => {
      if (typeof first === "string") {
        target[level](first);
        return;
      }
      const text = message ?? "";
      if (first["error"] === undefined || !take(first["error"], text)) target[level](first, text);
    };
  };
  return {
    error: quiet("error"),
    warn: quiet("warn"),
    info: target.info.bind(target),
    debug: target.debug.bind(target),
    trace: target.trace.bind(target),
    child: (fields) => interceptErrors(target.child(fields), take),
  };
}

/** Reports whether the API server gave no answer, or answered that it failed. A request to slow down (429) is an answer. */
export function isOutage(error: unknown): error is KubeError {
  if (!isKubeError(error)) return false;
  if (error.status === undefined) return isKubeError(error, "ConnectionLost", "Timeout") && !isDistrust(error);
  return error.status >= 500;
}

/** A certificate that is not trusted is no outage: it has to be corrected. */
function isDistrust({ cause }: KubeError): boolean {
  const { code } = deepest(cause);
  return /^(CERT_|ERR_TLS_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/.test(code);
}

/** "ConnectionLost ECONNREFUSED", "ServiceUnavailable 503": without the path of the request, so that it is the same for all. */
function causeOf(error: KubeError): string {
  const { code } = deepest(error.cause);
  return [error.code, error.status ?? code].filter((part) => part !== "").join(" ");
}

/** The code of the innermost cause that has one. */
function deepest(cause: unknown, code = ""): { readonly code: string } {
  if (typeof cause !== "object" || cause === null) return { code };
  const own = "code" in cause && typeof cause.code === "string" ? cause.code : code;
  return "cause" in cause ? deepest(cause.cause, own) : { code: own };
}

function seconds(ms: number): number {
  return Math.round(ms / 1_000);
}

function everyFiveSeconds(tick: () => void): () => void {
  const timer = setInterval(tick, 5_000).unref();
  return () => {
    clearInterval(timer);
  };
}
