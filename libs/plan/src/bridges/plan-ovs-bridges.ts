// SPDX-License-Identifier: Apache-2.0
/**
 * Plans the Open vSwitch bridges of spec.bridges.ovs (sriov-operator.md B.7, F.12). Each bridge has exactly one PF as its
 * uplink, so its steps belong to this PF. A bridge is removed only if it is certain that it is not wanted: another bridge
 * is, or spec.interfaces or spec.unselected names its PF and spec.bridges does not.
 */
import type {
  InterfaceStatus,
  OvsBridge,
  OvsBridgeConfig,
  OvsInterfaceConfig,
  SriovNetworkNodeStateSpec,
  SriovNetworkNodeStateStatus,
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

/** Prefix of the keys of external_ids with which Switchyard marks its rows. */
const reserved = "switchyard.io/";

export function planOvsBridge(pf: InterfaceStatus, { desired, observed, pfSteps }: BridgeContext): BridgePlan {
  if (observed.openVSwitch === undefined) return { before: [], after: [], problems: [] };
  const { pciAddress } = pf;
  const bridges = desired.bridges?.ovs ?? [];
  const index = bridges.findIndex((bridge) => onlyUplinkOf(bridge)?.pciAddress === pciAddress);
  const wanted = bridges[index];
  const existing = (observed.bridges?.ovs ?? []).filter((bridge) => isOf(bridge, pciAddress));
  const entry = desired.interfaces?.find((spec) => spec.pciAddress === pciAddress);
  const isCertain = wanted !== undefined || entry !== undefined || desired.unselected?.includes(pciAddress) === true;
  const obsolete = isCertain ? existing.filter(({ name }) => name !== wanted?.name) : [];
  const changesMode = changesEswitchMode(pfSteps);
  const kept = existing.filter((bridge) => !obsolete.includes(bridge));
  const before: PfStep[] = [
    ...obsolete.map(({ name }): PfStep => {
      return { kind: "remove-ovs-bridge", pciAddress, bridge: name, ...(changesMode && { isBeforeModeChange: true }) };
    }),
    ...kept.flatMap((bridge) => portSteps(bridge, pciAddress, changesMode)),
  ];
  if (wanted === undefined) return { before, after: [], problems: [] };

  const problem = isSmartNicHost(desired) ? withoutOvs(wanted) : problemOf(wanted, pf, observed);
  if (problem !== undefined) {
    return { before, after: [], problems: [{ ...problem, field: `spec.bridges.ovs[${index}]`, pciAddress }] };
  }
  const same = kept.find(({ name }) => name === wanted.name);
  const isAttached = same?.uplinks?.some((uplink) => uplink.pciAddress === pciAddress) === true;
  if (!isAttached && isUsed(pf, wanted)) {
    return { before, after: [], problems: [usedProblem(pf, wanted, `spec.bridges.ovs[${index}]`)] };
  }
  if (isHeldInLegacy(entry, pf, pfSteps)) return { before, after: [], problems: [] };
  const after = setSteps(wanted, { pf, existing: same, changesMode, mtu: entry?.mtu });
  return { before, after, problems: [] };
}

/** Returns the problems of bridges that belong to no PF of the node. */
export function ovsProblems(
  desired: SriovNetworkNodeStateSpec,
  observed: SriovNetworkNodeStateStatus,
): readonly PlanProblem[] {
  return uplinkProblems({ kind: "ovs", code: "ovs-unavailable", taken: [] }, desired, observed);
}

/** Reports whether OVN of the host runs on its SmartNIC: the operator then requests a mode of the card. */
export function isSmartNicHost({ interfaces = [] }: SriovNetworkNodeStateSpec): boolean {
  return interfaces.some(({ cardMode }) => cardMode !== undefined);
}

/** Reports whether an owned bridge belongs to the PF. A bridge whose uplink was removed is recognised by its name. */
function isOf({ name, uplinks = [] }: OvsBridge, pciAddress: string): boolean {
  if (uplinks.length > 0) return uplinks.some((uplink) => uplink.pciAddress === pciAddress);
  return name === bridgeNameOf(pciAddress);
}

/** Removes stale ports before new VFs appear: their representors may get the names of these ports, with wrong settings. */
function portSteps(bridge: OvsBridge, pciAddress: string, changesMode: boolean): readonly PfStep[] {
  const uplinks = changesMode ? (bridge.uplinks ?? []).flatMap(({ name }) => (name === undefined ? [] : [name])) : [];
  const ports = [...(bridge.stalePorts ?? []), ...uplinks];
  const step = { kind: "remove-ovs-ports", pciAddress, bridge: bridge.name, ports } as const;
  return ports.length === 0 ? [] : [{ ...step, ...(changesMode && { isBeforeModeChange: true }) }];
}

function withoutOvs({ name }: OvsBridge): Pick<PlanProblem, "code" | "message"> {
  const message = `bridge ${name} needs Open vSwitch, which does not run on this host, because OVN runs on its SmartNIC`;
  return { code: "ovs-unavailable", message };
}

function problemOf(
  wanted: OvsBridge,
  { pciAddress }: InterfaceStatus,
  { openVSwitch }: SriovNetworkNodeStateStatus,
): Pick<PlanProblem, "code" | "message"> | undefined {
  const malformed = malformation(wanted);
  if (malformed !== undefined) return { code: "malformed-bridge", message: malformed };
  if (openVSwitch?.error) {
    return { code: "ovs-unavailable", message: `the state of bridge ${wanted.name} is unknown: ${openVSwitch.error}` };
  }
  if (openVSwitch?.switchError) {
    return {
      code: "ovs-unavailable",
      message: `bridge ${wanted.name} forwards no packets: ${openVSwitch.switchError}`,
    };
  }
  for (const { name, pciAddresses = [] } of openVSwitch?.otherBridges ?? []) {
    if (name === wanted.name) {
      const message = `bridge ${name} exists and was not created by Switchyard: remove it, or let it manage the PF`;
      return { code: "bridge-conflict", message };
    }
    if (pciAddresses.includes(pciAddress)) {
      const message = `${pciAddress} is a port of bridge ${name}, which was not created by Switchyard`;
      return { code: "bridge-conflict", message };
    }
  }
  return undefined;
}

interface SetContext {
  readonly pf: InterfaceStatus;
  readonly existing: OvsBridge | undefined;
  readonly changesMode: boolean;
  /** MTU that the spec requests for the PF. */
  readonly mtu: number | undefined;
}

function setSteps(wanted: OvsBridge, { pf, existing, changesMode, mtu }: SetContext): readonly PfStep[] {
  const settings = bridgeSettings(wanted.bridge);
  const uplink = interfaceSettings(onlyUplinkOf(wanted)?.interface, mtu);
  const step = { kind: "set-ovs-bridge", pciAddress: pf.pciAddress, bridge: wanted.name, settings, uplink } as const;
  if (existing === undefined) return [{ ...step, change: "create" }];

  const present = existing.uplinks?.find(({ pciAddress }) => pciAddress === pf.pciAddress);
  const now = bridgeSettings(existing.bridge);
  const uplinkNow = interfaceSettings(present?.interface, undefined);
  if (settings.datapathType !== now.datapathType || (present !== undefined && uplink.type !== uplinkNow.type)) {
    return [{ ...step, change: "datapath" }];
  }
  const isAttached = present !== undefined && present.name === pf.name && !present.error && !changesMode;
  const isSame = isEqual(settings, now) && isEqual(uplink, uplinkNow);
  return isAttached && isSame ? [] : [{ ...step, change: "settings" }];
}

/** Returns the settings without those that are the default. "system" and "" are the same datapath. */
function bridgeSettings({ datapathType, externalIDs, otherConfig, failMode }: OvsBridgeConfig = {}): OvsBridgeConfig {
  return {
    ...(datapathType && datapathType !== "system" && { datapathType }),
    ...(isFilled(externalIDs) && { externalIDs }),
    ...(isFilled(otherConfig) && { otherConfig }),
    ...(failMode && { failMode }),
  };
}

/**
 * As bridgeSettings. The MTU of the port is at least that of the PF: a lower one would be applied by Open vSwitch and
 * raised again by the next pass.
 */
function interfaceSettings(
  { type, options, externalIDs, otherConfig, mtuRequest = 0 }: OvsInterfaceConfig = {},
  mtu = 0,
): OvsInterfaceConfig {
  return {
    ...(type && type !== "system" && { type }),
    ...(isFilled(options) && { options }),
    ...(isFilled(externalIDs) && { externalIDs }),
    ...(isFilled(otherConfig) && { otherConfig }),
    ...(mtuRequest > 0 && { mtuRequest: Math.max(mtuRequest, mtu) }),
  };
}

function isFilled(map: object | undefined): map is object {
  return map !== undefined && Object.keys(map).length > 0;
}

/** Compares two values of JSON; the order of keys does not matter. */
function isEqual(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const [ofA, ofB] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  return ofA.size === ofB.size && [...ofA].every(([key, value]) => ofB.has(key) && isEqual(value, ofB.get(key)));
}

/**
 * Checks the texts of a bridge before they reach Open vSwitch, which uses names in paths and closes the connection if a text
 * has a zero byte.
 * Returns why the bridge cannot be created; undefined if it can be.
 */
function malformation({ name, bridge = {}, uplinks = [] }: OvsBridge): string | undefined {
  // The bridge is a network interface of the same name.
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}$/.test(name)) {
    return `${quote(name)} cannot be the name of a bridge: it must have at most 15 letters, digits, ".", "_" and "-"`;
  }
  const { datapathType = "", externalIDs, otherConfig } = bridge;
  if (!isText(datapathType)) return `${quote(datapathType)} cannot be a datapath type`;
  const interfaces = uplinks.map((uplink) => uplink.interface ?? {});
  const type = interfaces.map((each) => each.type ?? "").find((each) => !isText(each));
  if (type !== undefined) return `${quote(type)} cannot be the type of an interface`;
  const marked = [externalIDs, ...interfaces.map((each) => each.externalIDs)];
  const maps = [...marked, otherConfig, ...interfaces.flatMap((each) => [each.options, each.otherConfig])];
  for (const [key, value] of maps.flatMap((map) => Object.entries(map ?? {}))) {
    if (key === "" || !isText(key) || !isText(value)) return `${quote(key)} cannot be an entry of a column`;
  }
  const taken = marked.flatMap((map) => Object.keys(map ?? {})).find((key) => key.startsWith(reserved));
  return taken === undefined ? undefined : `the key ${quote(taken)} of external_ids is reserved for Switchyard`;
}

/** Reports whether the database accepts the text. */
function isText(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}
