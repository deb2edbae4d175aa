// SPDX-License-Identifier: Apache-2.0
/** CommandDeps is what a command works with, and readObject reads one object with it. */
import {
  backoffMs,
  isKubeError,
  isKubeObject,
  objectPath,
  sleep,
  systemClock,
  type Clock,
  type KubeObject,
  type ObjectName,
  type ResourceType,
  type Transport,
} from "@switchyard/kube";
import { commonFlags, flag, integer } from "@switchyard/service";

/** Branch on `code`, never on the message. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly code: CommandErrorCode;

  constructor(code: CommandErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export interface CommandDeps {
  readonly transport: Transport;
  readonly limit: TimeLimit;
  /** Prints a line of progress. */
  readonly print: (line: string) => void;
  /** Prints a line about a problem. */
  readonly fail: (line: string) => void;
}

/** CommandError is the reason why a command of the operator's program cannot do its work. */
type CommandErrorCode =
  /** The directory of CustomResourceDefinitions, or a file in it, cannot be read or contains something else. */
  | "CRDS_UNREADABLE"
  /** The time limit is over. The message says what the command waited for. */
  | "TIMED_OUT";

/** Undefined if the object, or its kind, does not exist. Rejects with KubeError, or with CommandError TIMED_OUT. */
export async function readObject(
  { transport, limit }: Pick<CommandDeps, "transport" | "limit">,
  type: ResourceType,
  name: ObjectName,
): Promise<KubeObject | undefined> {
  const object = await limit.retry(async (signal) => {
    try {
      return await transport.request({ method: "GET", path: objectPath(type, name), signal });
    } catch (error) {
      if (isKubeError(error, "NotFound")) return undefined;
      throw error;
    }
  });
  return isKubeObject(object) ? object : undefined;
}

export interface TimeLimit extends Disposable {
  /** Aborts at the end of the time, or with the command's own signal. */
  readonly signal: AbortSignal;
  /** Whether the time is over. */
  readonly isOver: () => boolean;
  /**
   * Repeats a request while the API server does not answer or is overloaded. Rejects with any other error at once, and at the
   * end of the time with CommandError TIMED_OUT, which says the last error of the request, or else what the last
   * pause waited for.
   */
  readonly retry: <T>(request: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  /** Waits. Rejects at the end of the time with CommandError TIMED_OUT, which says what is unfinished: "x is not established yet". */
  readonly pause: (ms: number, unfinished: string) => Promise<void>;
}

interface TimeLimitOptions {
  readonly timeoutMs: number;
  /** The command's signal. */
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
  readonly clock?: Clock;
}

const backoff = { baseMs: 250, maxMs: 5_000 };

/**
 * limitTime gives a command its time limit, and repeats requests within it that the API server could not answer. Disposing it
 * ends the timer.
 */
export function limitTime({ timeoutMs, signal: outer, print, clock = systemClock }: TimeLimitOptions): TimeLimit {
  const end = new AbortController();
  const cancel = clock.after(timeoutMs, () => {
    end.abort(new CommandError("TIMED_OUT", `not finished within ${timeoutMs / 1000} s`));
  });
  const signal = AbortSignal.any([outer, end.signal]);
  const timedOut = (what: string) =>
    new CommandError("TIMED_OUT", `not finished within ${timeoutMs / 1000} s: ${what}`);
  let saidWaiting = false;
  /** What the last pause waited for, which may be over meanwhile. */
  let lastSeen = "";

  async function wait(ms: number, what: string): Promise<void> {
    try {
      await sleep(clock, ms, signal);
    } catch (error) {
      outer.throwIfAborted();
      if (end.signal.aborted) throw timedOut(what);
      throw error;
    }
  }

  return {
    signal,
    isOver: () => end.signal.aborted,
    pause(ms, what) {
      lastSeen = what;
      return wait(ms, what);
    },
    async retry(request) {
      let problem = `the API server does not answer${lastSeen === "" ? "" : `; last seen: ${lastSeen}`}`;
      for (let failures = 1; ; failures++) {
        try {
          return await request(signal);
        } catch (error) {
          outer.throwIfAborted();
          if (end.signal.aborted) throw timedOut(problem);
          if (!isKubeError(error) || !isPassing(error)) throw error;
          problem = error.message;
        }
        if (!saidWaiting) print(`the API server does not answer; retrying: ${problem}`);
        saidWaiting = true;
        await wait(backoffMs(failures, backoff, Math.random), problem);
      }
    },
    [Symbol.dispose]: () => {
      cancel();
    },
  };
}

/** Whether the same request can succeed later: no answer, or one that says that the server is busy. */
function isPassing({ code, status }: { readonly code: string; readonly status: number | undefined }): boolean {
  if (status === undefined) return code === "ConnectionLost" || code === "Timeout";
  return status === 429 || status === 409 || (status > 500 && status < 600);
}

const { kubeconfig, namespace } = commonFlags;

/**
 * Flags that several commands of the operator's program have. They have the names and variables of the service's flags.
 * The connection to the cluster, as the service has it.
 */
export const connectionFlags = { kubeconfig };

/** The same with the operator's namespace. */
export const namespacedFlags = { kubeconfig, namespace };

/** A time limit in seconds. */
export function timeoutFlag(seconds: number, help: string, env = "TIMEOUT_SECONDS") {
  return flag(integer({ minimum: 1, maximum: 3600 }), { default: `${seconds}`, env, help });
}
