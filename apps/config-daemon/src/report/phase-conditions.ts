// SPDX-License-Identifier: Apache-2.0
/**
 * The conditions that a phase of the node's life changes; the others stay as they are. Pure.
 * Usage: `conditionsOf(phase, before).reduce((all, verdict) => setCondition(all, { ...verdict, observedGeneration }, now), before)`.
 */
import { conditionTypes, nodeStateReasons as reasons, type Condition } from "@switchyard/api";
import { errorOf, syncStatusOf, type Phase } from "./phase.ts";

export type Verdict = Pick<Condition, "type" | "status" | "reason" | "message">;

/** One for each type that changes. `before` are the conditions that the status has. */
export function conditionsOf(phase: Phase, before: readonly Condition[]): readonly Verdict[] {
  const verdicts = [...overcome(phase, before), ...verdictsOf(phase), ...hangingOf(phase)];
  return [...new Map(verdicts.map((verdict) => [verdict.type, verdict])).values()]; // the last word counts
}

const { ready, progressing, degraded } = conditionTypes;

function set(type: string, status: boolean, reason: string, message: string): Verdict {
  return { type, status: status ? "True" : "False", reason, message };
}

/** A step that hangs needs a person, whatever becomes of the rest. */
function hangingOf(phase: Phase): readonly Verdict[] {
  if (phase.hanging === undefined) return [];
  const message = errorOf(phase);
  const verdict = set(degraded, true, reasons.stepHangs, message);
  return phase.kind === "settled" ? [set(ready, false, reasons.stepHangs, message), verdict] : [verdict];
}

/** What cannot hold any longer where a pass has come this far; the rest is settled at the pass's end. */
function overcome(phase: Phase, before: readonly Condition[]): readonly Verdict[] {
  const was = before.find(({ type }) => type === degraded)?.reason ?? "";
  const isOver = syncStatusOf(phase) === "InProgress" && overcomeByProgress.has(was);
  return isOver ? [set(degraded, false, reasons.configuring, "")] : [];
}

const overcomeByProgress: ReadonlySet<string> = new Set([
  reasons.passFailed,
  reasons.discoveryFailed,
  reasons.stepHangs,
]);

function verdictsOf(phase: Phase): readonly Verdict[] {
  switch (phase.kind) {
    case "settled": {
      const reason = phase.problems.length === 0 ? reasons.configured : reasons.notPossible;
      const isDone = phase.problems.length === 0;
      const message = errorOf(phase);
      return [
        set(ready, isDone, reason, message),
        set(progressing, false, reason, ""),
        set(degraded, !isDone, reason, message),
      ];
    }
    case "configuring": {
      const message = `${phase.stepCount} ${phase.stepCount === 1 ? "step" : "steps"} to do`;
      return [set(ready, false, reasons.configuring, message), set(progressing, true, reasons.configuring, message)];
    }
    case "waiting-for-drain": {
      const message = phase.reasons.map(({ text }) => text).join("; ");
      return [
        set(ready, false, reasons.waitingForDrain, message),
        set(progressing, true, reasons.waitingForDrain, message),
      ];
    }
    case "failed": {
      const message = errorOf(phase);
      return [
        set(ready, false, reasons.stepFailed, message),
        set(progressing, true, reasons.stepFailed, "the failed steps are tried again"),
        set(degraded, true, reasons.stepFailed, message),
      ];
    }
    case "discovery-failed":
      return [
        set(ready, false, reasons.discoveryFailed, errorOf(phase)),
        set(degraded, true, reasons.discoveryFailed, errorOf(phase)),
      ];
    case "pass-failed": {
      const message = errorOf(phase);
      return [
        set(ready, false, reasons.passFailed, message),
        set(progressing, true, reasons.passFailed, "the pass is tried again"),
        set(degraded, true, reasons.passFailed, message),
      ];
    }
  }
}
