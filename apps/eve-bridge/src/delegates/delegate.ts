// SPDX-License-Identifier: Apache-2.0
/** runDelegate runs the stock `bridge` or `dhcp` plugin for a part of the work (CNI 1.1.0, "Plugin Delegation"). */
import { statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { CniError, cniCode, errnoOf } from "../request/cni-error.ts";
import { deadlineIn, leftMs, nowMs, sleep, type Wait } from "../process/deadline.ts";
import { isObject, parseJson, type JsonObject, type JsonValue } from "../request/json.ts";
import { delegateMark } from "./orphans.ts";
import type { CniEnvironment, Command } from "../request/request.ts";
import { runCommand, type CommandOutcome } from "../process/run-command.ts";

/** One call of a delegated plugin. */
export interface Delegation {
  readonly plugin: "bridge" | "dhcp";
  readonly command: Command;
  readonly conf: JsonObject;
}

/** While an installer writes a plugin's file, the plugin cannot be started. */
const busyPauseMs = 100;
const busyLimitMs = 5_000;

/**
 * Runs the plugin and returns its stdout. Throws the plugin's error with its code, or 102 for 999; the message
 * names plugin and command.
 */
export async function runDelegate(env: CniEnvironment, delegation: Delegation, wait: Wait): Promise<string> {
  const { plugin, command, conf } = delegation;
  const file = findPlugin(plugin, env.path);
  const outcome = await startWhenWritten(file, {
    ...wait,
    stdin: JSON.stringify(conf),
    env: {
      ...process.env,
      CNI_COMMAND: command,
      CNI_CONTAINERID: env.containerId,
      CNI_NETNS: env.netns,
      CNI_IFNAME: env.ifName,
      CNI_ARGS: env.args,
      CNI_PATH: env.path,
      ...delegateMark(env),
    },
  });
  if (outcome.status === 0) return outcome.stdout;
  throw pluginError(`${plugin} plugin failed to ${command}${env.ifName === "" ? "" : ` ${env.ifName}`}`, outcome);
}

/** Parses the result that a plugin printed. Throws code 102 when it is not JSON. */
export function parseDelegateOutput(plugin: string, stdout: string): JsonValue {
  try {
    return parseJson(stdout);
  } catch (cause) {
    const details = stdout.slice(0, 200);
    throw new CniError(cniCode.delegate, `${plugin} plugin did not print JSON`, { details, cause });
  }
}

/** The path of a plugin: the first regular file of that name in CNI_PATH. Throws code 7. */
export function findPlugin(plugin: string, path: string): string {
  const dirs = path.split(":").filter((dir) => isAbsolute(dir));
  for (const dir of dirs) {
    const file = join(dir, plugin);
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === true) return file;
  }
  throw new CniError(cniCode.invalidConfig, `failed to find plugin "${plugin}" in path [${dirs.join(" ")}]`);
}

/** Repeats the start while it fails with ETXTBSY: a process, such as an installer, has the file open for writing. */
async function startWhenWritten(file: string, options: Parameters<typeof runCommand>[2]): Promise<CommandOutcome> {
  const whole = deadlineIn(options.timeoutMs);
  const busy = deadlineIn(Math.min(busyLimitMs, options.timeoutMs));
  for (;;) {
    try {
      return await runCommand(file, [], { ...options, timeoutMs: leftMs(whole, options.timeoutMs) });
    } catch (error) {
      if (errnoOf(error) !== "ETXTBSY" || nowMs() >= busy.endMs) throw error;
      await sleep(leftMs(busy, busyPauseMs));
    }
  }
}

function pluginError(what: string, { status, stdout, stderr }: CommandOutcome): CniError {
  const own = errorIn(stdout);
  // The stock plugins use 999 for all their failures. Here it means a bug in eve-bridge.
  const code = own?.code === cniCode.internal ? cniCode.delegate : own?.code;
  if (own !== undefined && code !== undefined)
    return new CniError(code, `${what}: ${own.msg}`, { details: own.details });
  const ended = status === null ? "killed by a signal" : `exit status ${status}`;
  const said = (stderr.trim() || stdout.trim()).slice(0, 500);
  return new CniError(cniCode.delegate, `${what}: ${ended}`, { details: said });
}

/** The CNI error object in the plugin's stdout, if it has a valid code. */
function errorIn(stdout: string): { code: number; msg: string; details: string } | undefined {
  let value: JsonValue;
  try {
    value = parseJson(stdout);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const { code, msg, details } = value;
  if (typeof code !== "number" || !Number.isInteger(code) || code < 1) return undefined;
  return { code, msg: typeof msg === "string" ? msg : "", details: typeof details === "string" ? details : "" };
}
