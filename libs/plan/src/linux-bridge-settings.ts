// SPDX-License-Identifier: Apache-2.0
/**
 * Parses the settings of a Linux bridge in the spec. They come from the API and reach the kernel, so nothing that is not
 * listed here is accepted.
 * Usage: `const parsed = parseLinuxBridge(spec.bridges.linux[0], "0000:3b:00.0")`.
 */
import {
  err,
  ok,
  type LinuxBridge,
  type LinuxBridgeConfig,
  type LinuxUplinkConfig,
  type Result,
} from "@switchyard/api";
import { bridgeNameOf } from "@switchyard/policy";
import { quote } from "./problem.ts";

/** What a bridge and its uplink must have. */
export interface LinuxBridgeSettings {
  readonly vlans: Required<LinuxBridgeConfig>;
  /** All settings of the port that have a default, and path_cost if the spec has it. */
  readonly port: Readonly<Record<string, number>>;
}

/** The default and the largest value of each setting of a port (net/bridge, Linux 6.12); the kernel computes path_cost. */
const portSettings: Readonly<Record<string, { readonly initial: number | undefined; readonly largest: number }>> = {
  bpdu_guard: { initial: 0, largest: 1 },
  broadcast_flood: { initial: 1, largest: 1 },
  hairpin_mode: { initial: 0, largest: 1 },
  isolated: { initial: 0, largest: 1 },
  learning: { initial: 1, largest: 1 },
  multicast_fast_leave: { initial: 0, largest: 1 },
  multicast_flood: { initial: 1, largest: 1 },
  multicast_router: { initial: 1, largest: 2 },
  multicast_to_unicast: { initial: 0, largest: 1 },
  neigh_suppress: { initial: 0, largest: 1 },
  path_cost: { initial: undefined, largest: 65_535 },
  priority: { initial: 32, largest: 63 },
  proxyarp: { initial: 0, largest: 1 },
  proxyarp_wifi: { initial: 0, largest: 1 },
  root_block: { initial: 0, largest: 1 },
  unicast_flood: { initial: 1, largest: 1 },
};

const maxNameLength = 15; // IFNAMSIZ without its NUL

/** The error says what is wrong with the bridge of the PF. */
export function parseLinuxBridge(bridge: LinuxBridge, pciAddress: string): Result<LinuxBridgeSettings, string> {
  const name = bridgeNameOf(pciAddress);
  if (bridge.name !== name)
    return err(`the bridge of ${pciAddress} must have the name ${name}, not ${quote(bridge.name)}`);
  if (name.length > maxNameLength) {
    return err(`the name ${name} is longer than the ${maxNameLength} characters that Linux allows`);
  }
  const { vlanFiltering = false, vlanProtocol = "802.1Q" } = bridge.bridge ?? {};
  if (!vlanProtocols.has(vlanProtocol))
    return err(`${quote(vlanProtocol)} is not a VLAN protocol: use 802.1Q or 802.1ad`);
  const uplink = bridge.uplinks?.[0]?.uplink ?? {};
  const port = new Map<string, number>();
  for (const [setting, { initial }] of Object.entries(portSettings))
    if (initial !== undefined) port.set(setting, initial);
  for (const [setting, text] of Object.entries(uplink)) {
    const value = parseSetting(setting, text);
    if (!value.ok) return value;
    port.set(setting, value.value);
  }
  return ok({ vlans: { vlanFiltering, vlanProtocol }, port: Object.fromEntries(port) });
}

/** Returns the settings that the status shows, in the same form. Settings that it does not show have their default. */
export function observedPort(uplink: LinuxUplinkConfig = {}): Readonly<Record<string, number>> {
  const port = new Map<string, number>();
  for (const [setting, { initial }] of Object.entries(portSettings)) {
    const text = uplink[setting];
    const value = text === undefined ? initial : Number(text);
    if (value !== undefined) port.set(setting, value);
  }
  return Object.fromEntries(port);
}

/** Returns the settings of a port for the status: those that are not the default. */
export function shownPort(settings: Readonly<Record<string, number>>): LinuxUplinkConfig {
  const shown = Object.entries(settings).filter(([setting, value]) => {
    const known = Object.hasOwn(portSettings, setting) ? portSettings[setting] : undefined;
    return known !== undefined && value !== known.initial;
  });
  return Object.fromEntries(shown.map(([setting, value]) => [setting, `${value}`]));
}

const vlanProtocols: ReadonlySet<string> = new Set(["802.1Q", "802.1ad"]);

function parseSetting(setting: string, text: string): Result<number, string> {
  const known = Object.hasOwn(portSettings, setting) ? portSettings[setting] : undefined;
  if (known === undefined) {
    return err(`${quote(setting)} is not a setting of a port: use ${Object.keys(portSettings).join(", ")}`);
  }
  const value = /^\d{1,5}$/.test(text) ? Number(text) : undefined;
  if (value === undefined || value > known.largest) {
    return err(`${setting} must be a number from 0 to ${known.largest}, not ${quote(text)}`);
  }
  return ok(value);
}
