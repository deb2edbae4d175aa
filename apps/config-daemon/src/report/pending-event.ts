// SPDX-License-Identifier: Apache-2.0
/**
 * createPendingEvent keeps an event that occurs before the NodeState is known, or outside of a pass, until the next pass
 * records it.
 * Usage: `const pending = createPendingEvent(wake); pending.set(event); pending.recordOn(state, recordEvent);`
 */
import type { SriovNetworkNodeState } from "@switchyard/api";
import type { NodeEvent, RecordEvent } from "./reporter.ts";

export interface PendingEvent {
  /** Replaces the pending event and starts a pass. */
  set(event: NodeEvent): void;
  /** Records the pending event once. Does nothing if there is none. */
  recordOn(state: SriovNetworkNodeState, recordEvent: RecordEvent): void;
}

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
