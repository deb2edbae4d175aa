// SPDX-License-Identifier: Apache-2.0
/** createReporter writes the status of the NodeState and records its events, one report after another. */
import type { EventReason, SriovNetworkNodeState, SriovNetworkNodeStateStatus } from "@switchyard/api";
import { cutText, maxMessageBytes, type Writer } from "@switchyard/kube";
import type { LinkLoss } from "./link-loss.ts";
import type { Phase } from "./phase.ts";
import { statusOf, type Found } from "./status-of.ts";

export interface ReporterDeps {
  /** Skips writes that change nothing. */
  readonly writer: Pick<Writer<SriovNetworkNodeState>, "applyStatus">;
  readonly linkLoss: Pick<LinkLoss, "mustWait">;
  readonly recordEvent: RecordEvent;
  readonly now: () => Date;
}

/** Records an event on the NodeState. Never rejects. */
export type RecordEvent = (state: SriovNetworkNodeState, event: NodeEvent) => void;

export interface NodeEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: EventReason;
  readonly message: string;
}

/** Rejects with KubeError if the status cannot be written. */
export type Report = (state: SriovNetworkNodeState, phase: Phase, found: Found | undefined) => Promise<void>;

/** The fields of a node state of any kind that events depend on. */
type SyncFields = Pick<SriovNetworkNodeStateStatus, "syncStatus" | "lastSyncError">;

export function createReporter({ writer, linkLoss, recordEvent, now }: ReporterDeps): Report {
  /** The last written status. The cache receives it later. */
  let last: SriovNetworkNodeStateStatus | undefined;
  let previous: Promise<void> = Promise.resolve();

  async function write(state: SriovNetworkNodeState, phase: Phase, found: Found | undefined): Promise<void> {
    const before = last ?? state.status;
    const status = statusOf({
      status: before,
      generation: state.metadata.generation ?? 0,
      found,
      phase,
      now: now(),
    });
    if (linkLoss.mustWait(before, status)) return;
    const { name, namespace } = state.metadata;
    await writer.applyStatus({ metadata: { name, namespace }, status });
    last = status;
    // Upstream's reason. It is recorded once for each reboot, also if a restarted daemon reports it again.
    if (phase.kind === "rebooting") {
      const message = `Rebooting the node for ${phase.causes.join(", ")}`;
      recordEvent(state, { type: "Normal", reason: "RebootNode", message });
    }
    const event = eventOf(before, status);
    if (event !== undefined) recordEvent(state, event);
    for (const unclean of uncleanEvents(before, status)) recordEvent(state, unclean);
  }

  return (state, phase, found) => {
    // Reports are written in order. A report does not fail because the previous one failed.
    previous = previous.catch(() => undefined).then(() => write(state, phase, found));
    return previous;
  };
}

/** Returns the event of a change of the status; undefined if it has none. */
export function eventOf(before: SyncFields | undefined, after: SyncFields): NodeEvent | undefined {
  const error = after.lastSyncError ?? "";
  if (error !== "" && error !== before?.lastSyncError) return { type: "Warning", reason: "SyncFailed", message: error };
  if (before?.syncStatus === after.syncStatus) return undefined;
  const message = `Status changed from "${before?.syncStatus ?? ""}" to "${after.syncStatus ?? ""}"`;
  return { type: "Normal", reason: "SyncStatusChanged", message };
}

/** Returns an event for each PF with VFs that have been found with the settings of a past pod. */
function uncleanEvents(
  before: SriovNetworkNodeStateStatus | undefined,
  after: SriovNetworkNodeStateStatus,
): readonly NodeEvent[] {
  const uncleanOf = ({ interfaces = [] }: SriovNetworkNodeStateStatus = {}) =>
    interfaces.flatMap(({ pciAddress, Vfs = [] }) => Vfs.flatMap((vf) => (vf.unclean ? [{ pf: pciAddress, vf }] : [])));
  const known = new Set(uncleanOf(before).map(({ vf }) => vf.pciAddress));
  const found = uncleanOf(after).filter(({ vf }) => !known.has(vf.pciAddress));
  return [...Map.groupBy(found, ({ pf }) => pf)].map(([pf, vfs]) => {
    const described = vfs.map(({ vf: { vfID, unclean } }) => {
      const settings = (unclean?.settings ?? []).map(
        ({ name, value, initial }) => `${name} "${value}" to "${initial}"`,
      );
      return `VF ${vfID}: ${settings.join(", ")}`;
    });
    const what = vfs.length === 1 ? "a VF has settings" : `${vfs.length} VFs have settings`;
    const message = `On PF ${pf}, ${what} of a pod that has ended, which will be reset: ${described.join("; ")}`;
    return { type: "Warning", reason: "VfNotClean", message: cutText(message, maxMessageBytes) };
  });
}

interface PendingEvent {
  /** Replaces the pending event and starts a pass. */
  set(event: NodeEvent): void;
  /** Records the pending event once. Does nothing if there is none. */
  recordOn(state: SriovNetworkNodeState, recordEvent: RecordEvent): void;
}

/**
 * createPendingEvent keeps an event that occurs before the NodeState is known, or outside of a pass, until the next pass records
 * it.
 */
export function createPendingEvent(wake: () => void): PendingEvent {
  let pending: NodeEvent | undefined;
  return {
    set(event) {
      pending = event;
      wake();
    },
    recordOn(state, recordEvent) {
      if (pending !== undefined) recordEvent(state, pending);
      pending = undefined;
    },
  };
}
