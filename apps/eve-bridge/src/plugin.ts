// SPDX-License-Identifier: Apache-2.0
/**
 * runPlugin handles one call of a container runtime, from its environment to its exit status. Each command is loaded
 * with import() when it is called, because every module of Node costs about a millisecond of the start.
 */
import type { Call } from "./state/call.ts";
import { errorObject, toCniError, type CniError } from "./request/cni-error.ts";
import {
  newestVersion,
  parseEnvironment,
  parseRequest,
  versionIn,
  versionObject,
  type CniRequest,
} from "./request/request.ts";
import { deadlineIn, nowMs } from "./process/deadline.ts";
import type { JsonObject } from "./request/json.ts";
import { openLog } from "./state/log.ts";
import { parseTimeouts, parseTimeoutsIfPossible, readSettings } from "./request/settings.ts";
import type { StopSignal } from "./process/stop-signal.ts";

/** The container runtime, as this process sees it. */
export interface Caller {
  readonly env: NodeJS.ProcessEnv;
  readonly readStdin: () => Promise<string>;
  /** Writes the whole text to stdout. */
  readonly print: (text: string) => void;
  /** Starts to listen for the runtime's request to stop (SIGTERM). */
  readonly stopSignal: () => StopSignal;
}

/** Runs the command, prints its result or its error object, and returns the exit status. Never rejects. */
export async function runPlugin(caller: Caller): Promise<0 | 1> {
  let stdin = "";
  try {
    const env = parseEnvironment(caller.env);
    stdin = await caller.readStdin();
    if (env.command === "VERSION") caller.print(json(versionObject(versionIn(stdin))));
    else await runCommand(caller, parseRequest(env, stdin));
    return 0;
  } catch (error) {
    const object = errorObject(toCniError(error), versionIn(stdin) ?? newestVersion);
    try {
      caller.print(json(object));
    } catch {
      // stdout is closed: only the exit status can still report the failure.
    }
    return 1;
  }
}

async function runCommand({ env, print, stopSignal }: Caller, request: CniRequest): Promise<void> {
  const settings = readSettings(env);
  const removes = request.env.command === "DEL" || request.env.command === "GC";
  const timeouts = (removes ? parseTimeoutsIfPossible : parseTimeouts)(request.conf.raw);
  const log = openLog(settings, describeRequest(request));
  const deadline = deadlineIn(timeouts.total);
  const start = nowMs();
  const elapsed = () => Math.round(nowMs() - start);
  log.info("start");
  try {
    await dispatch({ request, settings, timeouts, deadline, log, signal: stopSignal() }, (result) => {
      print(json(result));
    });
    log.info("done", { ms: elapsed() });
  } catch (thrown) {
    const error = toCniError(thrown);
    log.error("failed", { ms: elapsed(), ...describeError(error) });
    throw error;
  }
}

async function dispatch(call: Call, print: (result: JsonObject) => void): Promise<void> {
  switch (call.request.env.command) {
    case "ADD":
      return (await import("./commands/add.ts")).add(call, print);
    case "DEL":
      return (await import("./commands/del.ts")).del(call);
    case "CHECK":
      return (await import("./commands/check.ts")).check(call);
    case "STATUS":
      return (await import("./commands/status.ts")).status(call);
    case "GC":
      return (await import("./commands/gc.ts")).gc(call);
    case "VERSION":
      return; // runPlugin answers VERSION itself, because it needs no configuration
  }
}

/** The fields that every log line of this call carries. */
function describeRequest({ env, conf, args }: CniRequest): JsonObject {
  const { command, containerId, ifName, netns } = env;
  const pod = args.podName === "" ? {} : { pod: `${args.podNamespace}/${args.podName}` };
  return { command, network: conf.name, containerId, ifName, netns, ...pod };
}

/** The log fields of a failure. Only bugs (code 999) have a stack, and only the log shows it. */
function describeError({ code, message: error, details, cause }: CniError): JsonObject {
  const stack =
    code === 999 && typeof cause === "object" && cause !== null && "stack" in cause ? String(cause.stack) : "";
  return { code, error, ...(details === "" ? {} : { details }), ...(stack === "" ? {} : { stack }) };
}

function json(value: JsonObject): string {
  return `${JSON.stringify(value)}\n`;
}
