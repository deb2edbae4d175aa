// SPDX-License-Identifier: Apache-2.0
/**
 * Plans the Linux bridges of spec.bridges.linux (upstream's proposal on software bridges, which upstream did not implement).
 * Each bridge has exactly one PF as its uplink, so its steps belong to this PF. A bridge is removed only if it is certain
 * that it is not wanted: spec.interfaces or spec.unselected names its PF, and spec.bridges.linux does not.
 * Usage: `const { before, after, problems } = planLinuxBridge(pf, context)`.
 */
import {
  err,
  ok,
  type InterfaceStatus,
  type LinuxBridge,
  type LinuxBridgeConfig,
  type LinuxUplinkConfig,
  type Result,
  type SriovNetworkNodeStateSpec,
  type SriovNetworkNodeStateStatus,
} from "@switchyard/api";
import { bridgeNameOf } from "@switchyard/policy";
import {
  changesEswitchMode,
  isHeldInLegacy,
  isUsed,
  onlyUplinkOf,
  uplinkProblems,
  usedProblem,
  type BridgeContext,
  type BridgePlan,
} from "./bridge-uplinks.ts";
import { quote, type PlanProblem } from "../problem.ts";
import type { PfStep } from "../steps/step.ts";

export interface LinuxBridgePlan extends BridgePlan {
  /** A bridge must be removed first and cannot be: no other step of the PF may run. */
  readonly isBlocking: boolean;
}

export function planLinuxBridge(pf: InterfaceStatus, context: BridgeContext): LinuxBridgePlan {
  const { desired, observed, pfSteps } = context;
  const { pciAddress } = pf;
  const bridges = desired.bridges?.linux ?? [];
  const index = bridges.findIndex((bridge) => onlyUplinkOf(bridge)?.pciAddress === pciAddress);
  const wanted = bridges[index];
  const field = `spec.bridges.linux[${index}]`;
  const existing = (observed.bridges?.linux ?? []).find((bridge) => isOf(bridge, pciAddress));
  const entry = desired.interfaces?.find((spec) => spec.pciAddress === pciAddress);
  const changesMode = changesEswitchMode(pfSteps);

  const isObsolete = wanted === undefined && (entry !== undefined || desired.unselected?.includes(pciAddress) === true);
  const removed = isObsolete || changesMode ? existing : undefined;
  if (removed !== undefined && isUsed(pf))
    return { ...nothing, problems: [keptProblem(pf, removed)], isBlocking: true };
  const before: PfStep[] =
    removed === undefined ? [] : [{ kind: "remove-linux-bridge", pciAddress, bridge: removed.name }];
  if (wanted === undefined) return { ...nothing, before };

  const parsed = parseLinuxBridge(wanted, pciAddress);
  if (!parsed.ok) {
    const problem = { code: "malformed-bridge", field, pciAddress, message: parsed.error } as const;
    return { ...nothing, before, problems: [problem] };
  }
  const kept = removed === undefined ? existing : undefined;
  const isAttached = kept !== undefined && onlyUplinkOf(kept)?.pciAddress === pciAddress;
  if (!isAttached && isUsed(pf, wanted)) return { ...nothing, before, problems: [usedProblem(pf, wanted, field)] };

  if (isHeldInLegacy(entry, pf, pfSteps) || observed.openVSwitch === undefined) return { ...nothing, before };
  return { ...nothing, before, after: setSteps(parsed.value, { pciAddress, bridge: wanted.name, kept, isAttached }) };
}

const nothing: LinuxBridgePlan = { before: [], after: [], problems: [], isBlocking: false };

/** Returns the problems of bridges that belong to no PF of the node. */
export function linuxBridgeProblems(
  desired: SriovNetworkNodeStateSpec,
  observed: SriovNetworkNodeStateStatus,
): readonly PlanProblem[] {
  const taken = (desired.bridges?.ovs ?? []).flatMap(({ uplinks = [] }) => uplinks.map(({ pciAddress }) => pciAddress));
  return uplinkProblems({ kind: "linux", code: "malformed-bridge", taken }, desired, observed);
}

/** Reports whether an owned bridge belongs to the PF. A bridge without an uplink is recognised by its name. */
function isOf({ name, uplinks = [] }: LinuxBridge, pciAddress: string): boolean {
  return name === bridgeNameOf(pciAddress) || uplinks.some((uplink) => uplink.pciAddress === pciAddress);
}

function keptProblem({ pciAddress, hostUse = [] }: InterfaceStatus, { name }: LinuxBridge): PlanProblem {
  const message = `bridge ${name} of ${pciAddress} cannot be removed, because the host uses it: ${hostUse.join(", ")}`;
  return { code: "used-by-host", field: "spec.bridges.linux", pciAddress, message };
}

interface SetContext {
  readonly pciAddress: string;
  readonly bridge: string;
  /** The bridge as it is. */
  readonly kept: LinuxBridge | undefined;
  readonly isAttached: boolean;
}

function setSteps({ vlans, port }: LinuxBridgeSettings, { kept, isAttached, ...which }: SetContext): readonly PfStep[] {
  const step = { kind: "set-linux-bridge", ...which, vlans, port } as const;
  if (kept === undefined) return [{ ...step, change: "create" }];
  const { vlanFiltering = false, vlanProtocol } = kept.bridge ?? {};
  if (vlanFiltering !== vlans.vlanFiltering || vlanProtocol !== vlans.vlanProtocol)
    return [{ ...step, change: "vlans" }];
  const now = observedPort(onlyUplinkOf(kept)?.uplink);
  const isSame = Object.entries(port).every(([setting, value]) => now[setting] === value);
  return isAttached && isSame && kept.linkAdminState !== "down" ? [] : [{ ...step, change: "settings" }];
}

/**
 * Parses the settings of a Linux bridge in the spec. They come from the API and reach the kernel, so nothing that is not
 * listed here is accepted.
 * What a bridge and its uplink must have.
 */
interface LinuxBridgeSettings {
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
function parseLinuxBridge(bridge: LinuxBridge, pciAddress: string): Result<LinuxBridgeSettings, string> {
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
function observedPort(uplink: LinuxUplinkConfig = {}): Readonly<Record<string, number>> {
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
