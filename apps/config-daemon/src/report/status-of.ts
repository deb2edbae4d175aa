// SPDX-License-Identifier: Apache-2.0
/**
 * What the node's status says of a moment of its life. Pure.
 * Usage: `statusOf({ status, generation, found, phase, now })`.
 */
import {
  conditionTypes,
  type Condition,
  type InterfaceStatus,
  type SriovNetworkNodeStateStatus,
  type SystemSettings,
} from "@switchyard/api";
import { setCondition } from "@switchyard/kube";
import { conditionsOf } from "./phase-conditions.ts";
import { errorOf, syncStatusOf, type Phase, type SyncStatus } from "./phase.ts";

/** What a look at the host found. */
export interface Found {
  readonly interfaces: readonly InterfaceStatus[];
  /** As Observation has it. */
  readonly system?: SystemSettings;
  /** The boot in which all was done that can be done for now; absent on the way there. */
  readonly bootId?: string;
}

export interface ReportInput {
  /** As it was before. */
  readonly status: SriovNetworkNodeStateStatus | undefined;
  /** metadata.generation of the spec that was acted on. */
  readonly generation: number;
  /** As last observed; what is undefined stays as the status has it. */
  readonly found: Found | undefined;
  readonly phase: Phase;
  readonly now: Date;
}

/** The whole status, conditions kept in time where they do not change. */
export function statusOf(input: ReportInput): SriovNetworkNodeStateStatus {
  const { status: before, generation: observedGeneration, found, phase, now } = input;
  const own = (before?.conditions ?? []).filter(({ type }) => ownTypes.has(type));
  const { interfaces = before?.interfaces, system = before?.system, bootId: bootID = before?.bootID } = found ?? {};
  return {
    ...(interfaces === undefined ? {} : { interfaces }),
    ...(system?.rdmaMode ? { system } : {}),
    ...syncOf(phase, before?.lastSyncError ?? ""),
    conditions: conditionsOf(phase, own).reduce<readonly Condition[]>(
      (conditions, verdict) => setCondition(conditions, { ...verdict, observedGeneration }, now),
      own,
    ),
    observedGeneration,
    ...(bootID === undefined ? {} : { bootID }),
  };
}

/** Others write conditions of other types, and lose them to whoever sends them along. */
const ownTypes: ReadonlySet<string> = new Set([
  conditionTypes.ready,
  conditionTypes.progressing,
  conditionTypes.degraded,
]);

/** Upstream's two fields; its users poll them. */
function syncOf(phase: Phase, lastError: string): { readonly syncStatus: SyncStatus; readonly lastSyncError: string } {
  const syncStatus = syncStatusOf(phase);
  return { syncStatus, lastSyncError: syncStatus === "InProgress" ? lastError : errorOf(phase) };
}
