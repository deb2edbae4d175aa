// SPDX-License-Identifier: Apache-2.0
/** phaseConditions returns the conditions that a phase changes. It is a pure function. */
import { conditionTypes, nodeStateReasons as reasons, type Condition } from "@switchyard/api";
import type { NewCondition } from "@switchyard/kube";
import type { PlanProblem } from "@switchyard/plan";
import { errorOf, syncStatusOf, type Phase } from "./phase.ts";

/** Returns one condition for each type that changes. `before` are the conditions of the present status. */
export function phaseConditions(phase: Phase, before: readonly Condition[]): readonly NewCondition[] {
  const conditions = [...clearedBy(phase, before), ...conditionsOfKind(phase), ...conditionsOfHanging(phase)];
  return [...new Map(conditions.map((condition) => [condition.type, condition])).values()]; // the last of a type wins
}

const { ready, progressing, degraded } = conditionTypes;

function condition(type: string, status: boolean, reason: string, message: string): NewCondition {
  return { type, status: status ? "True" : "False", reason, message };
}

/** A hanging step needs an administrator in every phase. */
function conditionsOfHanging(phase: Phase): readonly NewCondition[] {
  if (phase.hanging === undefined) return [];
  const message = errorOf(phase);
  const hangs = condition(degraded, true, reasons.stepHangs, message);
  return phase.kind === "settled" ? [condition(ready, false, reasons.stepHangs, message), hangs] : [hangs];
}

/** Clears Degraded if the progress of the pass disproves its reason. The end of the pass decides about other reasons. */
function clearedBy(phase: Phase, before: readonly Condition[]): readonly NewCondition[] {
  const reason = before.find(({ type }) => type === degraded)?.reason ?? "";
  const isStarted = phase.kind === "configuring";
  const isCleared =
    syncStatusOf(phase) === "InProgress" && (clearedByProgress.has(reason) || (!isStarted && reason === passFailed));
  return isCleared ? [condition(degraded, false, reasons.configuring, "")] : [];
}

const clearedByProgress: ReadonlySet<string> = new Set([reasons.discoveryFailed, reasons.stepHangs]);

/** A pass that fails again and again also starts its steps each time. A pass that waits for a drain has ended as it should. */
const { passFailed } = reasons;

function reasonOf(problems: readonly PlanProblem[]): string {
  if (problems.length === 0) return reasons.configured;
  const onlyWaits = problems.every(({ code }) => code === "power-cycle-required");
  return onlyWaits ? reasons.powerCycleRequired : reasons.notPossible;
}

function conditionsOfKind(phase: Phase): readonly NewCondition[] {
  switch (phase.kind) {
    case "settled": {
      const reason = reasonOf(phase.problems);
      const isDone = phase.problems.length === 0;
      const message = errorOf(phase);
      return [
        condition(ready, isDone, reason, message),
        condition(progressing, false, reason, ""),
        condition(degraded, !isDone, reason, message),
      ];
    }
    case "configuring": {
      const message = phase.stepCount === 1 ? "running 1 step" : `running ${phase.stepCount} steps`;
      return [
        condition(ready, false, reasons.configuring, message),
        condition(progressing, true, reasons.configuring, message),
      ];
    }
    case "waiting-for-drain": {
      const message = phase.reasons.map(({ text }) => text).join("; ");
      return [
        condition(ready, false, reasons.waitingForDrain, message),
        condition(progressing, true, reasons.waitingForDrain, message),
      ];
    }
    case "rebooting": {
      const message = `rebooting the node for ${phase.causes.join(", ")}`;
      return [
        condition(ready, false, reasons.rebooting, message),
        condition(progressing, true, reasons.rebooting, message),
      ];
    }
    case "failed": {
      const message = errorOf(phase);
      return [
        condition(ready, false, reasons.stepFailed, message),
        condition(progressing, true, reasons.stepFailed, "retrying the failed steps"),
        condition(degraded, true, reasons.stepFailed, message),
      ];
    }
    case "discovery-failed":
      return [
        condition(ready, false, reasons.discoveryFailed, errorOf(phase)),
        condition(degraded, true, reasons.discoveryFailed, errorOf(phase)),
      ];
    case "pass-failed": {
      const message = errorOf(phase);
      return [
        condition(ready, false, reasons.passFailed, message),
        condition(progressing, true, reasons.passFailed, "retrying the configuration of the node"),
        condition(degraded, true, reasons.passFailed, message),
      ];
    }
  }
}
