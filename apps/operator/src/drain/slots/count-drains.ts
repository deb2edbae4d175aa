// SPDX-License-Identifier: Apache-2.0
/**
 * Drains by state, for the metrics: those of an external drainer are not ours to count.
 * Usage: `for (const [state, count] of countDrains(states.list())) gauge.set({ state }, count);`
 */
import { conditionTypes } from "@switchyard/api";
import { answerOf, holding, type DrainFacts } from "../drain-facts.ts";

export type DrainState = "waiting" | "draining" | "complete" | "degraded" | "stalled";

/** All states, also those of no node. Degraded drains are counted as draining, too, and stalled ones as complete. */
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
    if (answer === "Draining") count("draining");
    if (answer === "DrainComplete") count("complete");
    if (answer === "Idle" && (drain.desired ?? "Idle") !== "Idle") count("waiting");
    if (holding(drain.conditions, conditionTypes.drainDegraded) === undefined) continue;
    count(answer === "DrainComplete" ? "stalled" : "degraded");
  }
  return counts;
}
