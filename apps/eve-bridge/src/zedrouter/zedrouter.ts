// SPDX-License-Identifier: Apache-2.0
/**
 * zedrouter's four methods (eve-and-afxdp.md a5). Addresses travel as Go's JSON has them: MACs and masks in base64, an
 * absent address as "". Members that only later zedrouters know (Pod.Namespace, NetworkInstance) are sent when there is
 * something to say; absent members of an answer are zero.
 * Usage: `const zedrouter = createZedrouter(rpc); const { useDhcp, interfaces } = await zedrouter.connectAtL2(pod, wait)`.
 */
import { CniError, cniCode } from "../request/cni-error.ts";
import type { Wait } from "../process/deadline.ts";
import { formatIp, maskOf, type Cidr, type IpAddress } from "../network/ip-address.ts";
import { isArray, isObject, kindOf, type JsonObject, type JsonValue } from "../request/json.ts";
import { formatMac, parseBase64Mac, type MacAddress } from "../network/mac-address.ts";
import type { CniInterface, CniResult } from "../request/result.ts";
import type { RpcConnection } from "./rpc-client.ts";

/** The interface of a pod that a call is about. */
export interface PodInterface {
  readonly podName: string;
  /** "" when the runtime did not say. */
  readonly podNamespace: string;
  readonly netns: string;
  readonly ifName: string;
  /** Known to ADD only. */
  readonly mac?: MacAddress;
  /** UUID, from configurations made for one network instance. */
  readonly networkInstance?: string;
}

/** What the pod was connected with. */
export interface L2Connection {
  readonly useDhcp: boolean;
  /** Bridge, host's end, pod's end. */
  readonly interfaces: readonly CniInterface[];
}

/** The verbs. Each throws what RpcConnection.call throws. */
export interface Zedrouter {
  /** Makes the pair of interfaces; the pod's end is up and has no address. */
  connectAtL2(pod: PodInterface, wait: Wait): Promise<L2Connection>;
  /** Puts addresses and routes on the pod's end. */
  connectAtL3(pod: PodInterface, ipam: CniResult, wait: Wait): Promise<void>;
  /** Removes the pair; succeeds when there is none. Says whether the network instance has DHCP. */
  disconnect(pod: PodInterface, wait: Wait): Promise<{ usedDhcp: boolean }>;
  /** Fails when the pair is not as zedrouter wants it. */
  check(pod: PodInterface, wait: Wait): Promise<{ usesDhcp: boolean }>;
}

/** The verbs over one connection. */
export function createZedrouter(rpc: RpcConnection): Zedrouter {
  const call = (method: string, params: JsonObject, wait: Wait) => rpc.call(`RPCServer.${method}`, params, wait);
  return {
    async connectAtL2(pod, wait) {
      return decodeL2Connection(await call("ConnectPodAtL2", encodePod(pod), wait));
    },
    async connectAtL3(pod, ipam, wait) {
      await call("ConnectPodAtL3", { ...encodePod(pod), ...encodeIpam(ipam) }, wait);
    },
    async disconnect(pod, wait) {
      return { usedDhcp: flagIn(await call("DisconnectPod", encodePod(pod), wait), "UsedDHCP") };
    },
    async check(pod, wait) {
      return { usesDhcp: flagIn(await call("CheckPodConnection", encodePod(pod), wait), "UsesDHCP") };
    },
  };
}

/** The arguments that all methods have, in the order of Go's structs. */
export function encodePod({ podName, podNamespace, netns, ifName, mac, networkInstance }: PodInterface): JsonObject {
  return {
    Pod: { Name: podName, ...(podNamespace === "" ? {} : { Namespace: podNamespace }), NetNsPath: netns },
    PodInterface: { Name: ifName, MAC: mac?.toString("base64") ?? null, NetNsPath: netns },
    ...(networkInstance === undefined ? {} : { NetworkInstance: networkInstance }),
  };
}

/** The arguments that ConnectPodAtL3 has besides. */
export function encodeIpam({ ips, routes, dns }: CniResult): JsonObject {
  return {
    IPs: ips.map(({ address, gateway }) => ({ Address: encodeNet(address), Gateway: encodeIp(gateway) })),
    Routes: routes.map(({ dst, gw }) => ({ Dst: encodeNet(dst), GW: encodeIp(gw) })),
    DNS: {
      Nameservers: dns["nameservers"] ?? null,
      Domain: dns["domain"] ?? "",
      Search: dns["search"] ?? null,
      Options: dns["options"] ?? null,
    },
  };
}

/** Reads the answer to ConnectPodAtL2. Throws code 101. */
export function decodeL2Connection(reply: JsonObject): L2Connection {
  const interfaces = reply["Interfaces"] ?? [];
  if (!isArray(interfaces)) throw malformed("Interfaces", "an array", interfaces);
  return { useDhcp: flagIn(reply, "UseDHCP"), interfaces: interfaces.map(decodeInterface) };
}

function decodeInterface(value: JsonValue, index: number): CniInterface {
  const at = `Interfaces[${index}]`;
  if (!isObject(value)) throw malformed(at, "an object", value);
  const { Name: name, MAC: base64 = null, NetNsPath: sandbox = "" } = value;
  if (typeof name !== "string" || name === "") throw malformed(`${at}.Name`, "a name", name);
  if (typeof sandbox !== "string") throw malformed(`${at}.NetNsPath`, "a string", sandbox);
  const mac = decodeMac(base64, `${at}.MAC`);
  return { name, ...(mac === undefined ? {} : { mac }), ...(sandbox === "" ? {} : { sandbox }) };
}

function decodeMac(value: JsonValue, at: string): string | undefined {
  if (value === null || value === "") return undefined;
  const mac = typeof value === "string" ? parseBase64Mac(value) : undefined;
  if (mac === undefined) throw malformed(at, "the base64 of a MAC address", value);
  return formatMac(mac);
}

function flagIn(reply: JsonObject, name: string): boolean {
  const flag = reply[name] ?? false;
  if (typeof flag !== "boolean") throw malformed(name, "true or false", flag);
  return flag;
}

function encodeNet(cidr: Cidr): JsonObject {
  return { IP: formatIp(cidr.address), Mask: maskOf(cidr).toString("base64") };
}

function encodeIp(address: IpAddress | undefined): string {
  return address === undefined ? "" : formatIp(address);
}

function malformed(at: string, wanted: string, value: JsonValue | undefined): CniError {
  const got = typeof value === "string" ? JSON.stringify(value) : kindOf(value);
  return new CniError(cniCode.protocol, `zedrouter's answer: ${at} is not ${wanted} but ${got}`);
}
