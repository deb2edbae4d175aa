// SPDX-License-Identifier: Apache-2.0
/**
 * Acquires, checks and releases DHCP leases with the stock `dhcp` plugin and its daemon (eve-and-afxdp.md a7, a9).
 */
import { statSync } from "node:fs";
import { logged, waitFor, type Call } from "../state/call.ts";
import { CniError, cniCode } from "../request/cni-error.ts";
import { parseDelegateOutput, runDelegate } from "./delegate.ts";
import { isUnspecified } from "../addresses/ip-address.ts";
import type { JsonObject } from "../request/json.ts";
import { parseMac } from "../addresses/mac-address.ts";
import { parseResult, type CniResult } from "../request/result.ts";
import { defaultSettings, type Settings } from "../request/settings.ts";
import { hasNoListener } from "../process/socket-probe.ts";

/**
 * Returns what tells the running DHCP daemon from an earlier one, whose leases are forgotten: each daemon makes its socket anew. The
 * text is "" if there is no socket.
 */
export function daemonOf({ dhcpSocket }: Pick<Settings, "dhcpSocket">): string {
  const stat = statSync(dhcpSocket, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? "" : [stat.dev, stat.ino, stat.ctimeNs].join(":");
}

/**
 * Acquires a lease for the interface with hardware address `mac`. Throws the plugin's error, or 102 for a result
 * without address.
 */
export async function acquireLease(call: Call, mac: string | undefined): Promise<CniResult> {
  const stdout = await runDhcp(call, "ADD", dhcpConf(call, mac));
  const result = parseResult(parseDelegateOutput("dhcp", stdout));
  if (result.ips.length === 0)
    throw new CniError(cniCode.delegate, "dhcp plugin returned no address", { details: stdout });
  return { ...result, routes: result.routes.map(withoutNoGateway) };
}

/**
 * Makes the daemon request the lease again, from which it also renews it. The daemon may get another address; compareResult finds
 * that difference.
 */
export async function checkLease(call: Call, mac: string | undefined): Promise<void> {
  await runDhcp(call, "CHECK", dhcpConf(call, mac));
}

/**
 * Releases the lease; succeeds when there is no lease, or when no daemon is running. The daemon keeps its leases in
 * memory, so they cannot be released after it has ended.
 */
export async function releaseLease(call: Call): Promise<void> {
  try {
    await runDhcp(call, "DEL", dhcpConf(call, undefined));
  } catch (error) {
    if (!(await hasNoListener(call.settings.dhcpSocket))) throw error;
    call.log.info("DHCP daemon is not running; the DHCP server keeps the lease until it expires");
  }
}

/**
 * The runtime's configuration with another `ipam`. It must be complete, because the daemon finds a lease by the
 * network's name.
 */
function dhcpConf({ request, settings }: Pick<Call, "request" | "settings">, mac: string | undefined): JsonObject {
  const { dhcpSocket } = settings;
  const ipam = {
    type: "dhcp",
    ...(dhcpSocket === defaultSettings.dhcpSocket ? {} : { daemonSocketPath: dhcpSocket }),
    ...(mac === undefined ? {} : { provide: [{ option: "dhcp-client-identifier", value: clientIdOf(mac) }] }),
  };
  return { ...request.conf.raw, ipam };
}

/**
 * The plugin's default client identifier contains the container's id, so a recreated pod would get another address. This
 * one contains the MAC, which zedrouter keeps. The leading zero marks it as not a hardware address (RFC 2132, 9.14).
 */
function clientIdOf(mac: string): string {
  const digits = parseMac(mac)?.toString("hex") ?? "";
  return `\u0000eve-mac-${digits}`;
}

/** Removes the gateway 0.0.0.0, which DHCP option 121 uses for a destination on the link (RFC 3442). */
function withoutNoGateway({ gw, ...route }: CniResult["routes"][number]): CniResult["routes"][number] {
  return gw === undefined || isUnspecified(gw) ? route : { ...route, gw };
}

function runDhcp(call: Call, command: "ADD" | "CHECK" | "DEL", conf: JsonObject): Promise<string> {
  return logged(call, `dhcp ${command}`, () =>
    runDelegate(call.request.env, { plugin: "dhcp", command, conf }, waitFor(call, call.timeouts.delegate)),
  );
}
