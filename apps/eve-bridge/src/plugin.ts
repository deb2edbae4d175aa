// SPDX-License-Identifier: Apache-2.0
/**
 * One call of a container runtime, from its environment to its exit status. Only what a command needs is loaded: each
 * module of Node that it does without is a millisecond less.
 * Usage: `process.exit(await runPlugin({ env: process.env, readStdin, print }))`.
 */
import type { Call } from "./commands/call.ts";
import { errorObject, toCniError, type CniError } from "./request/cni-error.ts";
import { newestVersion, versionObject } from "./request/cni-version.ts";
import { deadlineIn, nowMs } from "./process/deadline.ts";
import type { JsonObject } from "./request/json.ts";
import { openLog } from "./state/log.ts";
import { parseEnvironment, parseRequest, versionIn, type CniRequest } from "./request/request.ts";
import { parseTimeouts, parseTimeoutsIfPossible, readSettings } from "./request/settings.ts";
import type { StopSignal } from "./process/stop-signal.ts";

/** Who calls, as this process sees it. */
export interface Caller {
  readonly env: NodeJS.ProcessEnv;
  readonly readStdin: () => Promise<string>;
  /** Writes to stdout, whole. */
  readonly print: (text: string) => void;
  /** Begins to listen for the runtime's wish that we stop. */
  readonly stopSignal: () => StopSignal;
}

/** The exit status; results and errors are printed. */
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
      // Nobody listens any more: the exit status is all that is left to say.
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
      return; // answered before a configuration is needed
  }
}

/** What a line of the log says about its call. */
function describeRequest({ env, conf, args }: CniRequest): JsonObject {
  const { command, containerId, ifName, netns } = env;
  const pod = args.podName === "" ? {} : { pod: `${args.podNamespace}/${args.podName}` };
  return { command, network: conf.name, containerId, ifName, netns, ...pod };
}

/** The stack is for the log alone, and only when it is our bug. */
function describeError({ code, message: error, details, cause }: CniError): JsonObject {
  const stack =
    code === 999 && typeof cause === "object" && cause !== null && "stack" in cause ? String(cause.stack) : "";
  return { code, error, ...(details === "" ? {} : { details }), ...(stack === "" ? {} : { stack }) };
}

function json(value: JsonObject): string {
  return `${JSON.stringify(value)}\n`;
}
