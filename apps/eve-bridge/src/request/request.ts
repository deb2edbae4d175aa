// SPDX-License-Identifier: Apache-2.0
/**
 * parseRequest checks the environment and the stdin of one call of a container runtime (CNI 1.1.0, "Parameters";
 * eve-and-afxdp.md a2).
 */
import { parseCniArgs, type CniArgs } from "./cni-args.ts";
import { cniCode, CniError, describe } from "./cni-error.ts";
import { isObject, kindOf, parseJson, parseShallowJson, type JsonObject } from "./json.ts";

/** The commands of the CNI specification. */
export type Command = "ADD" | "DEL" | "CHECK" | "STATUS" | "GC" | "VERSION";

/** The checked environment. Variables that the command does not need may be "". */
export interface CniEnvironment {
  readonly command: Command;
  readonly containerId: string;
  /** A path. For DEL it may be "" or may no longer exist. */
  readonly netns: string;
  readonly ifName: string;
  /** CNI_ARGS, not parsed. */
  readonly args: string;
  /** CNI_PATH: directories, separated by ":". */
  readonly path: string;
}

/** The network configuration: the members that every command needs, and the whole object for delegated plugins. */
export interface NetworkConf {
  readonly cniVersion: CniVersion;
  readonly name: string;
  readonly raw: JsonObject;
}

/** A call of any command except VERSION. */
export interface CniRequest {
  readonly env: CniEnvironment;
  readonly conf: NetworkConf;
  readonly args: CniArgs;
}

/**
 * The versions of the CNI specification that eve-bridge supports.
 * The supported versions, oldest first.
 */
export const supportedVersions = ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"] as const;

/** The version of a configuration without `cniVersion`. */
export const impliedVersion: CniVersion = "0.1.0";

/** The version of the answer to a runtime that does not name a supported version. */
export const newestVersion: CniVersion = "1.1.0";

/** A supported version. */
export type CniVersion = (typeof supportedVersions)[number];

/** The interface in the cluster network. All other interfaces are in network instances. */
export const clusterInterface = "eth0";

type Variable = "CNI_CONTAINERID" | "CNI_NETNS" | "CNI_IFNAME" | "CNI_PATH";

const required: Readonly<Record<Command, readonly Variable[]>> = {
  ADD: ["CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME", "CNI_PATH"],
  CHECK: ["CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME", "CNI_PATH"],
  DEL: ["CNI_CONTAINERID", "CNI_IFNAME", "CNI_PATH"],
  GC: ["CNI_PATH"],
  STATUS: ["CNI_PATH"],
  VERSION: [],
};

const since: Readonly<Partial<Record<Command, CniVersion>>> = { CHECK: "0.4.0", STATUS: "1.1.0", GC: "1.1.0" };

const identifier = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;

/** The container id and the interface name are parts of one file name, which can have 255 bytes. */
const longestContainerId = 200;

/** Checks the environment. Throws code 4. */
export function parseEnvironment(env: NodeJS.ProcessEnv): CniEnvironment {
  const of = (name: string) => env[name] ?? "";
  const command = of("CNI_COMMAND");
  if (!isCommand(command)) throw invalidEnvironment(`unknown CNI_COMMAND: ${command}`);

  const missing = required[command].filter((name) => of(name) === "");
  if (missing.length > 0) throw invalidEnvironment(`required env variables [${missing.join(",")}] missing`);
  if (required[command].includes("CNI_CONTAINERID")) checkContainerId(of("CNI_CONTAINERID"));
  if (required[command].includes("CNI_IFNAME")) checkInterfaceName(of("CNI_IFNAME"));
  return {
    command,
    containerId: of("CNI_CONTAINERID"),
    netns: of("CNI_NETNS"),
    ifName: of("CNI_IFNAME"),
    args: of("CNI_ARGS"),
    path: of("CNI_PATH"),
  };
}

/** Checks the configuration against what `command` needs. Throws codes 1, 6 and 7. */
export function parseConf(command: Command, stdin: string): NetworkConf {
  const raw = decode(command, stdin);
  const { name, cniVersion = impliedVersion } = raw;
  if (typeof cniVersion !== "string") {
    throw new CniError(cniCode.decoding, `cniVersion must be a string, not ${kindOf(cniVersion)}`);
  }
  if (name === undefined || name === "") throw new CniError(cniCode.invalidConfig, "missing network name");
  if (typeof name !== "string" || !identifier.test(name)) {
    const details = typeof name === "string" ? name : `a ${kindOf(name)}`;
    throw new CniError(cniCode.invalidConfig, "invalid characters found in network name", { details });
  }
  if (!isSupported(cniVersion)) {
    const ours = supportedVersions.map((version) => JSON.stringify(version)).join(" ");
    const details = `config is ${JSON.stringify(cniVersion)}, plugin supports [${ours}]`;
    throw new CniError(cniCode.incompatibleVersion, "incompatible CNI versions", { details });
  }
  const least = since[command];
  if (least !== undefined && !atLeast(cniVersion, least)) {
    throw new CniError(cniCode.incompatibleVersion, `config version does not allow ${command}`);
  }
  return { cniVersion, name, raw };
}

/**
 * Combines environment and configuration. DEL ignores invalid CNI_ARGS, so that the pod can be deleted: an ADD with them
 * has failed before its first step.
 */
export function parseRequest(env: CniEnvironment, stdin: string): CniRequest {
  const conf = parseConf(env.command, stdin);
  try {
    return { env, conf, args: parseCniArgs(env.args) };
  } catch (error) {
    if (env.command !== "DEL") throw error;
    return { env, conf, args: parseCniArgs("") };
  }
}

/** The `cniVersion` in a configuration that may be invalid, for the error object. */
export function versionIn(stdin: string): string | undefined {
  try {
    const value = parseJson(stdin);
    const version = isObject(value) ? value["cniVersion"] : undefined;
    return typeof version === "string" ? version : undefined;
  } catch {
    return undefined; // parseConf reports invalid JSON
  }
}

function decode(command: Command, stdin: string): JsonObject {
  let value;
  try {
    // DEL must not fail because of members that it does not need: the runtime would repeat it for ever.
    value = command === "DEL" ? parseShallowJson(stdin) : parseJson(stdin);
  } catch (cause) {
    throw new CniError(cniCode.decoding, "the network configuration is not JSON", { details: describe(cause), cause });
  }
  if (isObject(value)) return value;
  throw new CniError(cniCode.decoding, `the network configuration must be an object, not ${kindOf(value)}`);
}

function checkContainerId(containerId: string): void {
  if (!identifier.test(containerId)) {
    throw invalidEnvironment("invalid characters in CNI_CONTAINERID", containerId);
  }
  if (containerId.length > longestContainerId) {
    throw invalidEnvironment("CNI_CONTAINERID is too long", `the maximum is ${longestContainerId} characters`);
  }
}

function checkInterfaceName(ifName: string): void {
  if (Buffer.byteLength(ifName) > 15) throw invalidEnvironment("CNI_IFNAME is too long", "the maximum is 15 bytes");
  if (ifName === "." || ifName === "..") throw invalidEnvironment("CNI_IFNAME is . or ..");
  if (/[/:\s]/.test(ifName)) throw invalidEnvironment("CNI_IFNAME contains / or : or whitespace", ifName);
}

function isCommand(text: string): text is Command {
  return Object.hasOwn(required, text);
}

function invalidEnvironment(message: string, details = ""): CniError {
  return new CniError(cniCode.invalidEnvironment, message, { details });
}

/** Whether `version` is supported. "1.0" is not: the whole string must be equal. */
export function isSupported(version: string): version is CniVersion {
  return supportedVersions.some((supported) => supported === version);
}

/** Whether `version` is `least` or newer. */
export function atLeast(version: CniVersion, least: CniVersion): boolean {
  return supportedVersions.indexOf(version) >= supportedVersions.indexOf(least);
}

/** The answer to VERSION. It has the version that the runtime named, if that is supported. */
export function versionObject(asked: string | undefined): JsonObject {
  const cniVersion = asked !== undefined && isSupported(asked) ? asked : newestVersion;
  return { cniVersion, supportedVersions };
}
