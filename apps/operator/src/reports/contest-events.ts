// SPDX-License-Identifier: Apache-2.0
/**
 * createContestEvents records one Warning event for each contest about a status: another program writes the same conditions, such as
 * an operator of another kind that still runs. The conditions themselves cannot say it, because the other program replaces them.
 */
import { eventReasons } from "@switchyard/api";
import type { EventRecorder, Interference, KubeObject, Requeue } from "@switchyard/kube";

/**
 * Call after each write of a status, with what others do to it. Returns when to write again: the writer lets a contested status rest,
 * and no event tells when the contest is over.
 */
export type RecordContest = (object: KubeObject, interference: Interference | undefined) => Requeue | undefined;

/** The writer decides whether it is time to write. Asking it costs no request. */
const interfered = { afterMs: 60_000 };

/** Most contests whose event is remembered. A forgotten one is recorded again. */
const maxRemembered = 1_000;

export function createContestEvents(events: EventRecorder): RecordContest {
  /** The last message by uid. */
  const recorded = new Map<string, string>();

  return function recordContest(object, interference) {
    const { uid = "" } = object.metadata;
    if (interference?.kind !== "contested") {
      recorded.delete(uid);
      return undefined;
    }
    const { message } = interference;
    if (recorded.get(uid) !== message) {
      if (recorded.size >= maxRemembered) recorded.clear();
      recorded.set(uid, message);
      events.record({ regarding: object, type: "Warning", reason: eventReasons.statusContested, note: message });
    }
    return interfered;
  };
}
