// SPDX-License-Identifier: Apache-2.0
/** statusOf computes the status of the SriovNetworkNodeState for a phase. It is a pure function. */
import {
  conditionTypes,
  defined,
  type Bridges,
  type HoldersStatus,
  type InterfaceStatus,
  type OpenVSwitchStatus,
  type SriovNetworkNodeStateStatus,
  type SystemStatus,
} from "@switchyard/api";
import { cutText, maxMessageBytes, setConditions, type NewCondition } from "@switchyard/kube";
import { describeRollback } from "@switchyard/plan";
import { phaseConditions } from "./phase-conditions.ts";
import { errorOf, syncStatusOf, type Phase, type SyncStatus } from "./phase.ts";

/** The parts of an observation that the status contains. */
export interface Found {
  readonly interfaces: readonly InterfaceStatus[];
  /** As in Observation. */
  readonly system?: SystemStatus;
  /** As in Observation. */
  readonly holders?: HoldersStatus | undefined;
  /** As in Observation. */
  readonly bridges?: Bridges;
  /** As in Observation. */
  readonly openVSwitch?: OpenVSwitchStatus | undefined;
  /** boot_id of the boot in which the node was configured; absent while steps are running. */
  readonly bootId?: string;
}

export interface StatusInput {
  /** The previous status. */
  readonly status: SriovNetworkNodeStateStatus | undefined;
  /** metadata.generation of the spec that the pass applies. */
  readonly generation: number;
  /** The last observation. Fields that are undefined keep their value in the status. */
  readonly found: Found | undefined;
  readonly phase: Phase;
  readonly now: Date;
}

/** Returns the whole status of the daemon's field manager. */
export function statusOf(input: StatusInput): SriovNetworkNodeStateStatus {
  const { status: before, generation: observedGeneration, found, phase, now } = input;
  const own = (before?.conditions ?? []).filter(({ type }) => types.includes(type));
  const { interfaces = before?.interfaces, system = before?.system, bootId: bootID = before?.bootID } = found ?? {};
  const rolledBack = rolledBackCondition(interfaces ?? []);
  const bridges = withoutEmptyLists(knownBridges(before?.bridges, found?.bridges));
  const openVSwitch = found === undefined ? before?.openVSwitch : found.openVSwitch;
  const holders = found === undefined ? before?.holders : found.holders;
  return {
    ...defined({ bridges, openVSwitch, holders }),
    ...defined({ interfaces, system: system && Object.keys(system).length > 0 ? system : undefined, bootID }),
    ...syncOf(phase, before?.lastSyncError ?? ""),
    conditions: setConditions(
      rolledBack === undefined ? own.filter(({ type }) => type !== conditionTypes.rolledBack) : own,
      [...phaseConditions(phase, own), ...(rolledBack === undefined ? [] : [rolledBack])],
      { now, observedGeneration },
    ),
    observedGeneration,
  };
}

/** Returns the bridges as found; those that are unknown now are as in the previous status. */
export function knownBridges(before: Bridges = {}, found: Bridges = {}): Bridges {
  return { ...before, ...found };
}

function withoutEmptyLists({ ovs = [], linux = [] }: Bridges): Bridges | undefined {
  const bridges = { ...(ovs.length > 0 && { ovs }), ...(linux.length > 0 && { linux }) };
  return Object.keys(bridges).length === 0 ? undefined : bridges;
}

/** Types that the daemon writes. An apply with conditions of other field managers would take them over. */
const types: readonly string[] = [
  conditionTypes.ready,
  conditionTypes.progressing,
  conditionTypes.degraded,
  conditionTypes.rolledBack,
];

/** Undefined if no change of the present spec was undone. */
function rolledBackCondition(interfaces: readonly InterfaceStatus[]): NewCondition | undefined {
  const undone = interfaces.flatMap(({ rolledBack }) => rolledBack ?? []);
  const [first] = undone;
  if (first === undefined) return undefined;
  const message = cutText(undone.map(describeRollback).join("; "), maxMessageBytes);
  return { type: conditionTypes.rolledBack, status: "True", reason: first.reason, message };
}

/** Upstream's two fields, which upstream's users poll. */
function syncOf(phase: Phase, lastError: string): { readonly syncStatus: SyncStatus; readonly lastSyncError: string } {
  const syncStatus = syncStatusOf(phase);
  return { syncStatus, lastSyncError: syncStatus === "InProgress" ? lastError : errorOf(phase) };
}
