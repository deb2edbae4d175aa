// SPDX-License-Identifier: Apache-2.0
/**
 * One call of a container runtime: its environment and its stdin, checked (eve-and-afxdp.md a2 and (c)).
 * Usage: `const request = parseRequest(process.env, await readStdin())`.
 */
import { parseCniArgs, type CniArgs } from "./cni-args.ts";
import { CniError, cniCode, describe } from "./cni-error.ts";
import { atLeast, impliedVersion, isSupported, supportedVersions, type CniVersion } from "./cni-version.ts";
import { isObject, kindOf, parseJson, type JsonObject } from "./json.ts";

/** What can be asked of a plugin. */
export type Command = "ADD" | "DEL" | "CHECK" | "STATUS" | "GC" | "VERSION";

/** The environment, checked: variables that the command does not need may be "". */
export interface CniEnvironment {
  readonly command: Command;
  readonly containerId: string;
  /** A path; for DEL it may be "" or gone. */
  readonly netns: string;
  readonly ifName: string;
  /** CNI_ARGS as it came. */
  readonly args: string;
  /** CNI_PATH as it came: directories, separated by ":". */
  readonly path: string;
}

/** The network configuration: the members that every command needs, and all of it for delegates. */
export interface NetworkConf {
  readonly cniVersion: CniVersion;
  readonly name: string;
  readonly raw: JsonObject;
}

/** A whole call other than VERSION. */
export interface CniRequest {
  readonly env: CniEnvironment;
  readonly conf: NetworkConf;
  readonly args: CniArgs;
}

/** The one interface that belongs to the cluster's network; all others are in network instances. */
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

/** Both are parts of one file name of the records, which has 255 bytes. */
const longestContainerId = 200;

/** Checks the environment. Throws code 4, 3 for an unusable container id. */
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
  const raw = decode(stdin);
  const { name, cniVersion = impliedVersion } = raw;
  if (typeof cniVersion !== "string") {
    throw new CniError(cniCode.decoding, `cniVersion is not a string but ${kindOf(cniVersion)}`);
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
 * Environment and configuration together. Arguments that are none do not keep DEL from what it can do: with them ADD has
 * failed before it acted, and a pod must be able to end.
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

/** The `cniVersion` of any text: what the error object says about a configuration that cannot be used. */
export function versionIn(stdin: string): string | undefined {
  try {
    const value = parseJson(stdin);
    const version = isObject(value) ? value["cniVersion"] : undefined;
    return typeof version === "string" ? version : undefined;
  } catch {
    return undefined; // whoever needs the configuration reports that
  }
}

function decode(stdin: string): JsonObject {
  let value;
  try {
    value = parseJson(stdin);
  } catch (cause) {
    throw new CniError(cniCode.decoding, "the network configuration is not JSON", { details: describe(cause), cause });
  }
  if (isObject(value)) return value;
  throw new CniError(cniCode.decoding, `the network configuration is not an object but ${kindOf(value)}`);
}

function checkContainerId(containerId: string): void {
  if (!identifier.test(containerId)) {
    throw invalidEnvironment("invalid characters in CNI_CONTAINERID", containerId);
  }
  if (containerId.length > longestContainerId) {
    throw invalidEnvironment("CNI_CONTAINERID is too long", `it may have ${longestContainerId} characters`);
  }
}

function checkInterfaceName(ifName: string): void {
  if (Buffer.byteLength(ifName) > 15) throw invalidEnvironment("CNI_IFNAME is too long", "the kernel takes 15 bytes");
  if (ifName === "." || ifName === "..") throw invalidEnvironment("CNI_IFNAME is . or ..");
  if (/[/:\s]/.test(ifName)) throw invalidEnvironment("CNI_IFNAME contains / or : or whitespace", ifName);
}

function isCommand(text: string): text is Command {
  return Object.hasOwn(required, text);
}

function invalidEnvironment(message: string, details = ""): CniError {
  return new CniError(cniCode.invalidEnvironment, message, { details });
}
