// SPDX-License-Identifier: Apache-2.0
/**
 * * Zedrouter calls zedrouter's four RPC methods (eve-and-afxdp.md a5). Addresses have the form of Go's JSON: MACs and
 * masks in base64, an absent address as "". Members that only newer zedrouters know (Pod.Namespace, NetworkInstance)
 * are sent only if they have a value; absent members of an answer have their zero value.
 */
import { CniError, cniCode } from "../request/cni-error.ts";
import type { Wait } from "../process/deadline.ts";
import { formatIp, maskOf, type Cidr, type IpAddress } from "../addresses/ip-address.ts";
import { isArray, isObject, kindOf, type JsonObject, type JsonValue } from "../request/json.ts";
import { formatMac, parseBase64Mac, type MacAddress } from "../addresses/mac-address.ts";
import type { CniInterface, CniResult } from "../request/result.ts";
import type { RpcConnection } from "./rpc-client.ts";

/** The interface of a pod. */
export interface PodInterface {
  readonly podName: string;
  /** "" if CNI_ARGS does not contain it. */
  readonly podNamespace: string;
  readonly netns: string;
  readonly ifName: string;
  /** Set for ADD only. */
  readonly mac?: MacAddress;
  /** The UUID in `networkInstance` of the configuration. */
  readonly networkInstance?: string;
}

/** The result of connectAtL2. */
export interface L2Connection {
  readonly useDhcp: boolean;
  /** The bridge, the host's end and the pod's end of the veth pair. */
  readonly interfaces: readonly CniInterface[];
}

/** zedrouter's methods. Each throws the errors of RpcConnection.call. */
export interface Zedrouter {
  /** Creates the veth pair. The pod's end is up and has no address. */
  connectAtL2(pod: PodInterface, wait: Wait): Promise<L2Connection>;
  /** Sets addresses and routes on the pod's end. */
  connectAtL3(pod: PodInterface, ipam: CniResult, wait: Wait): Promise<void>;
  /** Removes the veth pair; succeeds if it does not exist. Returns whether the network instance uses DHCP. */
  disconnect(pod: PodInterface, wait: Wait): Promise<{ usedDhcp: boolean }>;
  /** Throws if the veth pair is not as zedrouter created it. Returns whether the network instance uses DHCP. */
  check(pod: PodInterface, wait: Wait): Promise<{ usesDhcp: boolean }>;
}

/** zedrouter's methods over one connection. */
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

/** The arguments that all methods share, in the order of Go's structs. */
export function encodePod({ podName, podNamespace, netns, ifName, mac, networkInstance }: PodInterface): JsonObject {
  return {
    Pod: { Name: podName, ...(podNamespace === "" ? {} : { Namespace: podNamespace }), NetNsPath: netns },
    PodInterface: { Name: ifName, MAC: mac?.toString("base64") ?? null, NetNsPath: netns },
    ...(networkInstance === undefined ? {} : { NetworkInstance: networkInstance }),
  };
}

/** The additional arguments of ConnectPodAtL3. */
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

/** Decodes the answer to ConnectPodAtL2. Throws code 101. */
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
  return new CniError(cniCode.protocol, `zedrouter's answer: ${at} must be ${wanted}, not ${got}`);
}
