// SPDX-License-Identifier: Apache-2.0
/**
 * CniResult is the result of ADD, parsed from any version of the CNI specification. Version 1.1.0 has
 * all members, older versions have fewer. result-format.ts writes results.
 */
import { CniError, cniCode } from "./cni-error.ts";
import { atLeast, impliedVersion, isSupported } from "./request.ts";
import { parseCidr, parseIp, type Cidr, type IpAddress } from "../addresses/ip-address.ts";
import { isArray, isObject, kindOf, type JsonObject, type JsonValue } from "./json.ts";

/** The result of an ADD. */
export interface CniResult {
  readonly interfaces: readonly CniInterface[];
  readonly ips: readonly CniIp[];
  readonly routes: readonly CniRoute[];
  /** Passed through without change. */
  readonly dns: JsonObject;
}

/** An interface in the pod, or on the host if it has no `sandbox`. */
export interface CniInterface {
  readonly name: string;
  readonly mac?: string;
  readonly sandbox?: string;
  readonly mtu?: number;
  readonly socketPath?: string;
  readonly pciID?: string;
}

/** An address of the interface with index `interface`. */
export interface CniIp {
  readonly interface?: number;
  readonly address: Cidr;
  readonly gateway?: IpAddress;
}

/** A route. Without `gw` the destination is on the link. */
export interface CniRoute {
  readonly dst: Cidr;
  readonly gw?: IpAddress;
  readonly mtu?: number;
  readonly advmss?: number;
  readonly priority?: number;
  readonly table?: number;
  readonly scope?: number;
}

const routeNumbers = ["mtu", "advmss", "priority", "table", "scope"] as const;

/** Parses a result of any supported version. Throws code 1 for other versions, 6 with the name of an invalid member. */
export function parseResult(value: JsonValue): CniResult {
  if (!isObject(value)) throw malformed("", "an object", value);
  const version = value["cniVersion"] ?? impliedVersion;
  if (typeof version !== "string") throw malformed("cniVersion", "a string", version);
  if (!isSupported(version)) {
    throw new CniError(cniCode.incompatibleVersion, `unsupported result of CNI version ${JSON.stringify(version)}`);
  }
  const dns = value["dns"] ?? {};
  if (!isObject(dns)) throw malformed("dns", "an object", dns);
  if (!atLeast(version, "0.3.0")) return { ...parseFamilies(value), dns };
  return {
    interfaces: listOf(value["interfaces"], "interfaces").map(parseInterface),
    ips: listOf(value["ips"], "ips").map((ip, i) => parseIpConfig(ip, `ips[${i}]`, "address")),
    routes: listOf(value["routes"], "routes").map((route, i) => parseRoute(route, `routes[${i}]`)),
    dns,
  };
}

/** Adds `later` to `earlier`: the result of a plugin that is not the first of its chain. */
export function mergeResults(earlier: CniResult, later: CniResult): CniResult {
  const shift = earlier.interfaces.length;
  const moved = later.ips.map((ip) => (ip.interface === undefined ? ip : { ...ip, interface: ip.interface + shift }));
  return {
    interfaces: [...earlier.interfaces, ...later.interfaces],
    ips: [...earlier.ips, ...moved],
    routes: [...earlier.routes, ...later.routes],
    dns: Object.keys(later.dns).length > 0 ? later.dns : earlier.dns,
  };
}

/** Parses 0.1.0 and 0.2.0, which have one address and the routes of each family. */
function parseFamilies(value: JsonObject): Pick<CniResult, "interfaces" | "ips" | "routes"> {
  const ips: CniIp[] = [];
  const routes: CniRoute[] = [];
  for (const family of ["ip4", "ip6"]) {
    const config = value[family];
    if (config === undefined || config === null) continue;
    ips.push(parseIpConfig(config, family, "ip"));
    const list = isObject(config) ? config["routes"] : undefined;
    routes.push(...listOf(list, `${family}.routes`).map((route, i) => parseRoute(route, `${family}.routes[${i}]`)));
  }
  return { interfaces: [], ips, routes };
}

function parseInterface(value: JsonValue, index: number): CniInterface {
  const at = `interfaces[${index}]`;
  if (!isObject(value)) throw malformed(at, "an object", value);
  const { name, mtu } = value;
  if (typeof name !== "string") throw malformed(`${at}.name`, "a string", name);
  const texts: { mac?: string; sandbox?: string; socketPath?: string; pciID?: string } = {};
  for (const member of ["mac", "sandbox", "socketPath", "pciID"] as const) {
    const text = value[member] ?? "";
    if (typeof text !== "string") throw malformed(`${at}.${member}`, "a string", text);
    if (text !== "") texts[member] = text;
  }
  if (mtu !== undefined && typeof mtu !== "number") throw malformed(`${at}.mtu`, "a number", mtu);
  return { name, ...texts, ...(mtu === undefined ? {} : { mtu }) };
}

function parseIpConfig(value: JsonValue, at: string, addressMember: "address" | "ip"): CniIp {
  if (!isObject(value)) throw malformed(at, "an object", value);
  const address = parseCidrMember(value[addressMember], `${at}.${addressMember}`);
  const index = value["interface"];
  if (index !== undefined && typeof index !== "number") throw malformed(`${at}.interface`, "a number", index);
  const gateway = parseGateway(value["gateway"], `${at}.gateway`);
  return { ...(index === undefined ? {} : { interface: index }), address, ...(gateway ? { gateway } : {}) };
}

function parseRoute(value: JsonValue, at: string): CniRoute {
  if (!isObject(value)) throw malformed(at, "an object", value);
  const gw = parseGateway(value["gw"], `${at}.gw`);
  const numbers: { [member in (typeof routeNumbers)[number]]?: number } = {};
  for (const member of routeNumbers) {
    const number = value[member];
    if (number === undefined) continue;
    if (typeof number !== "number") throw malformed(`${at}.${member}`, "a number", number);
    numbers[member] = number;
  }
  return { dst: parseCidrMember(value["dst"], `${at}.dst`), ...(gw ? { gw } : {}), ...numbers };
}

function parseCidrMember(value: JsonValue | undefined, at: string): Cidr {
  const cidr = typeof value === "string" ? parseCidr(value) : undefined;
  if (cidr === undefined) throw malformed(at, "an address with a prefix length", value);
  return cidr;
}

/** Go prints an absent address as "" or omits it. */
function parseGateway(value: JsonValue | undefined, at: string): IpAddress | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  const address = typeof value === "string" ? parseIp(value) : undefined;
  if (address === undefined) throw malformed(at, "an address", value);
  return address;
}

function listOf(value: JsonValue | undefined, at: string): readonly JsonValue[] {
  if (value === undefined || value === null) return [];
  if (!isArray(value)) throw malformed(at, "an array", value);
  return value;
}

function malformed(at: string, wanted: string, value: JsonValue | undefined): CniError {
  const got = typeof value === "string" ? JSON.stringify(value) : kindOf(value);
  return new CniError(cniCode.decoding, `${at === "" ? "the result" : at} must be ${wanted}, not ${got}`);
}
