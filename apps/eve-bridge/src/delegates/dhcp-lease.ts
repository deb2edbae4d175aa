// SPDX-License-Identifier: Apache-2.0
/**
 * Leases, by way of the stock `dhcp` plugin and its daemon (eve-and-afxdp.md a7, a9).
 * Usage: `const ipam = await acquireLease(call, mac)`; `await releaseLease(call)` while the interface is still there.
 */
import { logged, waitFor, type Call } from "../commands/call.ts";
import { CniError, cniCode } from "../request/cni-error.ts";
import { parseDelegateOutput, runDelegate } from "./delegate.ts";
import { isUnspecified } from "../network/ip-address.ts";
import type { JsonObject } from "../request/json.ts";
import { parseMac } from "../network/mac-address.ts";
import { parseResult, type CniResult } from "../request/result.ts";
import { defaultSettings } from "../request/settings.ts";
import { nobodyListens } from "../zedrouter/socket-probe.ts";

/** Asks for a lease for the interface with hardware address `mac`. Throws what the plugin says, 102 for a result without address. */
export async function acquireLease(call: Call, mac: string | undefined): Promise<CniResult> {
  const stdout = await runDhcp(call, "ADD", dhcpConf(call, mac));
  const result = parseResult(parseDelegateOutput("dhcp", stdout));
  if (result.ips.length === 0) throw new CniError(cniCode.delegate, "dhcp plugin gave no address", { details: stdout });
  return { ...result, routes: result.routes.map(withoutNoGateway) };
}

/** Makes sure that the daemon still has the lease. It may get another: whether the pod has that one is for others to see. */
export async function checkLease(call: Call, mac: string | undefined): Promise<void> {
  await runDhcp(call, "CHECK", dhcpConf(call, mac));
}

/**
 * Gives the lease back; succeeds when there is none. Also when no daemon runs: a daemon keeps its leases in memory, so
 * with it they are forgotten and nobody can give them back.
 */
export async function releaseLease(call: Call): Promise<void> {
  try {
    await runDhcp(call, "DEL", dhcpConf(call, undefined));
  } catch (error) {
    if (!(await nobodyListens(call.settings.dhcpSocket))) throw error;
    call.log.info("no DHCP daemon runs: its leases expire by themselves");
  }
}

/** The runtime's configuration with ipam replaced; all of it, since the daemon knows the lease by the network's name. */
export function dhcpConf(
  { request, settings }: Pick<Call, "request" | "settings">,
  mac: string | undefined,
): JsonObject {
  const { dhcpSocket } = settings;
  const ipam = {
    type: "dhcp",
    ...(dhcpSocket === defaultSettings.dhcpSocket ? {} : { daemonSocketPath: dhcpSocket }),
    ...(mac === undefined ? {} : { provide: [{ option: "dhcp-client-identifier", value: clientIdOf(mac) }] }),
  };
  return { ...request.conf.raw, ipam };
}

/**
 * The plugin's own client identifier has the container's id, so a pod made anew would get a new address. This one follows
 * the MAC, which zedrouter keeps; the leading zero says that it is no hardware address (RFC 2132, 9.14).
 */
function clientIdOf(mac: string): string {
  const digits = parseMac(mac)?.toString("hex") ?? "";
  return `\u0000eve-mac-${digits}`;
}

/** Option 121 says 0.0.0.0 for a destination on the link (RFC 3442); as a gateway nothing can be reached through it. */
function withoutNoGateway({ gw, ...route }: CniResult["routes"][number]): CniResult["routes"][number] {
  return gw === undefined || isUnspecified(gw) ? route : { ...route, gw };
}

function runDhcp(call: Call, command: "ADD" | "CHECK" | "DEL", conf: JsonObject): Promise<string> {
  return logged(call, `dhcp ${command}`, () =>
    runDelegate(call.request.env, { plugin: "dhcp", command, conf }, waitFor(call, call.timeouts.delegate)),
  );
}
