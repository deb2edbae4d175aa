// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the node's settings and the timeouts of a network. Paths come from a file that only root can write. The network
 * configuration can set timeouts only: users can create NetworkAttachmentDefinitions, and a path in one would make root
 * write to any file.
 */
import { existsSync, readFileSync } from "node:fs";
import { CniError, cniCode, describe } from "./cni-error.ts";
import { isObject, kindOf, parseJson, type JsonObject, type JsonValue } from "./json.ts";

/** The settings of this node. */
export interface Settings {
  /** zedrouter's JSON-RPC socket. */
  readonly rpcSocket: string;
  /** The socket of the CNI dhcp daemon. */
  readonly dhcpSocket: string;
  /** zedkube's markers, one file per pod. If the directory exists, they decide about eth0's default route. */
  readonly markerDir: string;
  /** eve-bridge's records and locks. Must be empty after a reboot. */
  readonly stateDir: string;
  readonly logFile: string;
  /** The log is rotated when it reaches this size. */
  readonly logMaxBytes: number;
}

/** Limits of single waits and of the whole call, in milliseconds. */
export interface Timeouts {
  readonly total: number;
  /** The wait for another call for the same interface. */
  readonly lock: number;
  /** The wait for zedrouter's socket while zedrouter restarts. */
  readonly dial: number;
  /** The wait for one answer of zedrouter, which gives up itself after 10 s. */
  readonly rpc: number;
  /** One run of a delegated plugin. */
  readonly delegate: number;
  /** The part of `total` that ADD reserves to undo itself; a quarter by default. */
  readonly undo: number;
}

export const defaultSettings: Settings = {
  rpcSocket: "/run/zedrouter/rpc.sock",
  dhcpSocket: "/run/cni/dhcp.sock",
  markerDir: "/run/zedkube/kubeapp-net",
  stateDir: "/run/eve-bridge",
  logFile: "/persist/kubelog/eve-bridge.log",
  logMaxBytes: 10 * 1024 * 1024,
};

/** `total` is less than the two minutes that a kubelet gives a pod's sandbox. */
export const defaultTimeouts: Timeouts = {
  total: 110_000,
  lock: 30_000,
  dial: 3_000,
  rpc: 15_000,
  delegate: 60_000,
  undo: 27_500,
};

/** The settings file, unless the environment variable below names another one. */
const settingsFile = "/etc/eve-bridge.json";
export const settingsVariable = "EVE_BRIDGE_CONFIG";

const longestTimeoutMs = 3_600_000;

/** The node's settings: defaults, overridden by the file that `env` names, or by /etc/eve-bridge.json. Throws code 7. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const named = env[settingsVariable];
  if (named === undefined && !existsSync(settingsFile)) return defaultSettings;
  const file = named ?? settingsFile;
  try {
    return parseSettings(parseJson(readFileSync(file, "utf8")));
  } catch (cause) {
    throw new CniError(cniCode.invalidConfig, `cannot read the settings in ${file}`, {
      details: describe(cause),
      cause,
    });
  }
}

/** The timeouts in `eveBridge.timeoutMs` of a network configuration, with defaults for absent ones. Throws code 7. */
export function parseTimeouts(conf: JsonObject): Timeouts {
  const own = memberObject(conf, "eveBridge", "eveBridge", ["timeoutMs"]);
  const given = memberObject(own, "timeoutMs", "eveBridge.timeoutMs", Object.keys(defaultTimeouts));
  const timeouts: Record<keyof Timeouts, number> = { ...defaultTimeouts };
  const has = (name: keyof Timeouts) => given[name] !== undefined;
  for (const name of ["total", "lock", "dial", "rpc", "delegate", "undo"] as const) {
    const value = given[name];
    if (value !== undefined) timeouts[name] = parseWhole(value, `eveBridge.timeoutMs.${name}`, longestTimeoutMs);
  }
  if (has("total") && !has("undo")) timeouts.undo = Math.floor(timeouts.total / 4);
  if (timeouts.undo >= timeouts.total) {
    throw new CniError(cniCode.invalidConfig, "eveBridge.timeoutMs.undo must be less than eveBridge.timeoutMs.total");
  }
  return timeouts;
}

/** The timeouts for DEL and GC, which must work with any configuration: defaults if `eveBridge` is invalid. */
export function parseTimeoutsIfPossible(conf: JsonObject): Timeouts {
  try {
    return parseTimeouts(conf);
  } catch {
    return defaultTimeouts;
  }
}

function parseSettings(value: JsonValue): Settings {
  if (!isObject(value)) throw wrongType("the settings file", "an object", value);
  refuseUnknown(value, "the settings file", Object.keys(defaultSettings));
  const settings: { -readonly [name in keyof Settings]: Settings[name] } = { ...defaultSettings };
  for (const name of ["rpcSocket", "dhcpSocket", "markerDir", "stateDir", "logFile"] as const) {
    const path = value[name];
    if (path === undefined) continue;
    if (typeof path !== "string" || !path.startsWith("/")) throw wrongType(name, "an absolute path", path);
    settings[name] = path;
  }
  const { logMaxBytes } = value;
  if (logMaxBytes !== undefined) {
    settings.logMaxBytes = parseWhole(logMaxBytes, "logMaxBytes", Number.MAX_SAFE_INTEGER);
  }
  return settings;
}

function memberObject(parent: JsonObject, name: string, path: string, known: readonly string[]): JsonObject {
  const value = parent[name] ?? {};
  if (!isObject(value)) throw wrongType(path, "an object", value);
  refuseUnknown(value, path, known);
  return value;
}

/** Throws for unknown settings, because a misspelt setting would be ignored silently. */
function refuseUnknown(value: JsonObject, path: string, known: readonly string[]): void {
  const unknown = Object.keys(value).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const details = `known settings: ${known.join(", ")}`;
  throw new CniError(cniCode.invalidConfig, `unknown setting in ${path}: ${unknown.join(", ")}`, { details });
}

function parseWhole(value: JsonValue, path: string, most: number): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > most) {
    throw wrongType(path, `a whole number from 1 to ${most}`, value);
  }
  return value;
}

function wrongType(path: string, wanted: string, value: JsonValue): CniError {
  const got = typeof value === "object" ? kindOf(value) : JSON.stringify(value);
  return new CniError(cniCode.invalidConfig, `${path} must be ${wanted}, not ${got}`);
}
