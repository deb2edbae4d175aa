// SPDX-License-Identifier: Apache-2.0
/**
 * createAfxdpReports writes the status of the AfxdpNetworkNodeState and records its events, one report after another.
 */
import {
  conditionTypes,
  defined,
  type AfxdpInterfaceStatus,
  type AfxdpNetworkNodeState,
  type AfxdpNetworkNodeStateStatus,
} from "@switchyard/api";
import { setConditions, type Writer } from "@switchyard/kube";
import { deviceIdOf } from "@switchyard/plan";
import { phaseConditions } from "../../report/phase-conditions.ts";
import { errorOf, syncStatusOf, type Phase } from "../../report/phase.ts";
import { eventOf, type NodeEvent } from "../../report/reporter.ts";

export interface AfxdpReportsDeps {
  /** Skips writes that change nothing. */
  readonly writer: Pick<Writer<AfxdpNetworkNodeState>, "applyStatus">;
  /** Records an event on the state. Never rejects. */
  readonly recordEvent: (state: AfxdpNetworkNodeState, event: NodeEvent) => void;
  readonly now: () => Date;
}

/** Rejects with KubeError if the status cannot be written. */
export type ReportAfxdp = (
  state: AfxdpNetworkNodeState,
  phase: Phase,
  found: readonly AfxdpInterfaceStatus[] | undefined,
) => Promise<void>;

const types: readonly string[] = [conditionTypes.ready, conditionTypes.progressing, conditionTypes.degraded];

interface AfxdpStatusInput {
  /** The previous status. */
  readonly status: AfxdpNetworkNodeStateStatus | undefined;
  /** metadata.generation of the spec that the pass applies. */
  readonly generation: number;
  /** The last observation; undefined keeps the devices of the status. */
  readonly found: readonly AfxdpInterfaceStatus[] | undefined;
  readonly phase: Phase;
  readonly now: Date;
}

export function createAfxdpReports({ writer, recordEvent, now }: AfxdpReportsDeps): ReportAfxdp {
  /** The last written status. The cache receives it later. */
  let last: { readonly uid: string | undefined; readonly status: AfxdpNetworkNodeState["status"] } | undefined;
  let previous: Promise<void> = Promise.resolve();

  async function write(...[state, phase, found]: Parameters<ReportAfxdp>): Promise<void> {
    const { name, namespace, uid, generation = 0 } = state.metadata;
    // The operator deletes and creates the state when the AfxdpOperatorConfig is deleted and created.
    const before = last !== undefined && last.uid === uid ? last.status : state.status;
    const status = afxdpStatusOf({ status: before, generation, found, phase, now: now() });
    // Without the uid, an apply would create the object again after its deletion.
    await writer.applyStatus({ metadata: { name, ...defined({ namespace, uid }) }, status });
    last = { uid, status };
    const event = eventOf(before, status);
    if (event !== undefined) recordEvent(state, event);
    for (const replaced of replacedCards(before?.interfaces, status.interfaces)) recordEvent(state, replaced);
  }

  return (state, phase, found) => {
    // Reports are written in order. A report does not fail because the previous one failed.
    previous = previous.catch(() => undefined).then(() => write(state, phase, found));
    return previous;
  };
}

/** Returns one event for each card that is reported as replaced for the first time. */
function replacedCards(
  before: readonly AfxdpInterfaceStatus[] = [],
  after: readonly AfxdpInterfaceStatus[] = [],
): readonly NodeEvent[] {
  const known = new Map(before.map((device) => [deviceIdOf(device), device.replacedCard]));
  return after.flatMap(({ replacedCard, ...device }): readonly NodeEvent[] => {
    const id = deviceIdOf(device);
    if (replacedCard === undefined || known.get(id) === replacedCard) return [];
    const message = `${id} has another card than the one that Switchyard configured, ${replacedCard}, whose record is not used`;
    return [{ type: "Normal", reason: "CardReplaced", message }];
  });
}

/**
 * afxdpStatusOf computes the part of the status of the AfxdpNetworkNodeState that the daemon writes. The pools belong to the
 * device plugin. It is a pure function. Returns the whole status of the daemon's field manager.
 */
function afxdpStatusOf(input: AfxdpStatusInput): AfxdpNetworkNodeStateStatus {
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
