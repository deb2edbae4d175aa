// SPDX-License-Identifier: Apache-2.0
/**
 * afxdpStatusOf computes the part of the status of the AfxdpNetworkNodeState that the daemon writes. The pools belong to the
 * device plugin. It is a pure function.
 * Usage: `afxdpStatusOf({ status, generation, found, phase, now })`.
 */
import { conditionTypes, defined, type AfxdpInterfaceStatus, type AfxdpNetworkNodeStateStatus } from "@switchyard/api";
import { setConditions } from "@switchyard/kube";
import { phaseConditions } from "../../report/phase-conditions.ts";
import { errorOf, syncStatusOf, type Phase } from "../../report/phase.ts";

export interface AfxdpStatusInput {
  /** The previous status. */
  readonly status: AfxdpNetworkNodeStateStatus | undefined;
  /** metadata.generation of the spec that the pass applies. */
  readonly generation: number;
  /** The last observation; undefined keeps the devices of the status. */
  readonly found: readonly AfxdpInterfaceStatus[] | undefined;
  readonly phase: Phase;
  readonly now: Date;
}

const types: readonly string[] = [conditionTypes.ready, conditionTypes.progressing, conditionTypes.degraded];

/** Returns the whole status of the daemon's field manager. */
export function afxdpStatusOf(input: AfxdpStatusInput): AfxdpNetworkNodeStateStatus {
  const { status: before, generation: observedGeneration, found, phase, now } = input;
  const own = (before?.conditions ?? []).filter(({ type }) => types.includes(type));
  const syncStatus = syncStatusOf(phase);
  return {
    ...defined({ interfaces: found ?? before?.interfaces }),
    syncStatus,
    lastSyncError: syncStatus === "InProgress" ? (before?.lastSyncError ?? "") : errorOf(phase),
    conditions: setConditions(own, phaseConditions(phase, own), { now, observedGeneration }),
    observedGeneration,
  };
}
