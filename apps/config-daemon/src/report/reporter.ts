// SPDX-License-Identifier: Apache-2.0
/**
 * Writes the node's status and its events, one after the other and only where something differs.
 * Usage: `const report = createReporter({ writer, events, now }); await report(state, phase, found);`
 */
import type { SriovNetworkNodeState, SriovNetworkNodeStateStatus } from "@switchyard/api";
import type { Writer } from "@switchyard/kube";
import type { Phase } from "./phase.ts";
import { statusOf, type Found } from "./status-of.ts";

export interface ReporterDeps {
  readonly writer: Pick<Writer<SriovNetworkNodeState>, "applyStatus">;
  /** Tells people of a change; never rejects. */
  readonly tell: (state: SriovNetworkNodeState, event: NodeEvent) => void;
  readonly now: () => Date;
}

/** A change worth telling. */
export interface NodeEvent {
  readonly type: "Normal" | "Warning";
  /** CamelCase. */
  readonly reason: "SyncStatusChanged" | "SyncFailed";
  readonly message: string;
}

/** Rejects with KubeError where the status cannot be written. */
export type Report = (state: SriovNetworkNodeState, phase: Phase, found: Found | undefined) => Promise<void>;

export function createReporter({ writer, tell, now }: ReporterDeps): Report {
  /** What was written last; the cache learns of it later. */
  let last: SriovNetworkNodeStateStatus | undefined;
  let turn: Promise<void> = Promise.resolve();

  async function write(state: SriovNetworkNodeState, phase: Phase, found: Found | undefined): Promise<void> {
    const before = last ?? state.status;
    const status = statusOf({
      status: before,
      generation: state.metadata.generation ?? 0,
      found,
      phase,
      now: now(),
    });
    const { name, namespace } = state.metadata;
    await writer.applyStatus({ metadata: { name, namespace }, status });
    last = status;
    const event = eventOf(before, status);
    if (event !== undefined) tell(state, event);
  }

  return (state, phase, found) => {
    // A report never overtakes the one before, and does not fail with it.
    turn = turn.catch(() => undefined).then(() => write(state, phase, found));
    return turn;
  };
}

function eventOf(
  before: SriovNetworkNodeStateStatus | undefined,
  after: SriovNetworkNodeStateStatus,
): NodeEvent | undefined {
  const error = after.lastSyncError ?? "";
  if (error !== "" && error !== before?.lastSyncError) return { type: "Warning", reason: "SyncFailed", message: error };
  if (before?.syncStatus === after.syncStatus) return undefined;
  const message = `Status changed from "${before?.syncStatus ?? ""}" to "${after.syncStatus ?? ""}"`;
  return { type: "Normal", reason: "SyncStatusChanged", message };
}
