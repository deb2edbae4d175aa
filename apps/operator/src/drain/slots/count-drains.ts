// SPDX-License-Identifier: Apache-2.0
/**
 * countDrains counts drains by state, for metrics. Drains by an external drainer are not counted.
 * Usage: `for (const [state, count] of countDrains(states.list())) gauge.set({ state }, count);`
 */
import { conditionTypes, drainAnswers, drainRequests } from "@switchyard/api";
import { answerOf, holding, type DrainFacts } from "../drain-facts.ts";

export type DrainState = "waiting" | "draining" | "complete" | "degraded" | "stalled";

/** Returns the counts of all states. Degraded drains also count as draining, and stalled ones also as complete. */
export function countDrains(states: readonly { readonly drain: DrainFacts }[]): ReadonlyMap<DrainState, number> {
  const counts = new Map<DrainState, number>([
    ["waiting", 0],
    ["draining", 0],
    ["complete", 0],
    ["degraded", 0],
    ["stalled", 0],
  ]);
  const count = (state: DrainState): Map<DrainState, number> => counts.set(state, (counts.get(state) ?? 0) + 1);
  for (const { drain } of states) {
    if (drain.isExternal) continue;
    const answer = answerOf(drain);
    if (answer === drainAnswers.draining) count("draining");
    if (answer === drainAnswers.complete) count("complete");
    if (answer === drainAnswers.idle && (drain.desired ?? drainRequests.idle) !== drainRequests.idle) count("waiting");
    if (holding(drain.conditions, conditionTypes.drainDegraded) === undefined) continue;
    count(answer === drainAnswers.complete ? "stalled" : "degraded");
  }
  return counts;
}
