// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { describeGoal, missedGoals } from "../harness/goal.ts";
import { fleetGoals, waveGoals } from "./fleet-report.ts";
import type { StepResult } from "./step-result.ts";

function result(overrides: Partial<StepResult>): StepResult {
  return {
    id: "first-policy",
    round: 1,
    specChanges: 1000,
    firstSeconds: 0.2,
    allSeconds: 3.8,
    plainSeconds: 3,
    load: { ownSeconds: 5, othersBusy: 0 },
    cpuSeconds: 3,
    rssMb: 90,
    peakMb: 120,
    requests: { writes: { "patch sriovnetworknodestates": 1000 }, reads: {}, failed: {} },
    ...overrides,
  };
}

const missed = (results: readonly StepResult[], nodes = 1000) =>
  missedGoals(fleetGoals(results, { nodes })).map(describeGoal);

describe("fleetGoals", () => {
  it("allow 1.25 times the plain client's time plus the debounce", () => {
    expect(missed([result({ allSeconds: 3.85 })])).toEqual([]);
    expect(missed([result({ allSeconds: 3.9 })])).toEqual([
      "first policy, all nodes after the debounce / plain client: 1.27 x, goal 1.25 x",
    ]);
  });

  it.each(["start", "more-policies", "delete-policies"] as const)("allow the longer debounce of a burst: %s", (id) => {
    expect(missed([result({ id, allSeconds: 4.25 })])).toEqual([]);
    expect(missed([result({ id, allSeconds: 4.26 })])).toHaveLength(1);
  });

  it("use the median of the rounds", () => {
    const good = result({});
    const disturbed = result({ round: 2, allSeconds: 9, cpuSeconds: 9 });
    const plainDisturbed = result({ round: 3, plainSeconds: 12 });
    expect(missed([good, disturbed, plainDisturbed])).toEqual([]);
    expect(missed([good, disturbed, { ...disturbed, round: 3 }])).toEqual([
      "first policy, all nodes after the debounce / plain client: 2.97 x, goal 1.25 x",
      "first policy, CPU: 9 s, goal 3.03 s",
    ]);
    expect(missed([good, result({ round: 2, allSeconds: 3.88 })])).toEqual([]); // 1.23 x and 1.26 x
  });

  it("are missed if a step did not end", () => {
    const { allSeconds: _, ...endless } = result({});
    expect(missed([endless])).toEqual([
      "first policy, all nodes after the debounce / plain client: not measured, goal 1.25 x",
    ]);
  });

  it("allow more CPU time for more nodes", () => {
    expect(missed([result({ cpuSeconds: 3.1 })])).toEqual(["first policy, CPU: 3.1 s, goal 3.03 s"]);
    expect(missed([result({ cpuSeconds: 15, peakMb: 390 })], 5000)).toEqual([]);
  });

  it("ignore the times of a small fleet", () => {
    expect(missed([result({ allSeconds: 9, cpuSeconds: 9 })], 999)).toEqual([]);
  });

  it("allow no writes and almost no CPU time for changes without effect", () => {
    const rests = { writes: { "update leases": 2 }, reads: {}, failed: {} };
    const noArrival: StepResult = {
      id: "label",
      round: 1,
      specChanges: 0,
      load: { ownSeconds: 5, othersBusy: 0 },
      cpuSeconds: 0.06,
      rssMb: 90,
      peakMb: 120,
      requests: rests,
    };
    expect(missed([noArrival])).toEqual(["one label on one node (no effect), CPU: 0.06 s, goal 0.05 s"]);
    const busy: StepResult = { ...noArrival, id: "restart", requests: { ...rests, writes: { "patch nodes": 2 } } };
    expect(missed([busy])).toEqual(["restart, converged, writes: 2, goal 0"]);
  });

  it("limit the largest memory of all steps", () => {
    expect(missed([result({ peakMb: 131 }), result({})])).toEqual(["peak RSS: 131 MB, goal 130 MB"]);
  });
});

describe("waveGoals", () => {
  const wave = { nodes: 100, limit: 10, peak: 10, starts: 100, longestGapSeconds: 0.4, allSeconds: 9, cpuSeconds: 1 };

  it("limit the concurrent drains, the drains per node and the time that a slot stays free", () => {
    expect(missedGoals(waveGoals(wave))).toEqual([]);
    expect(
      missedGoals(waveGoals({ ...wave, peak: 11, starts: 101, longestGapSeconds: 1.5 })).map(describeGoal),
    ).toEqual([
      "drains at once: 11, goal 10",
      "drains of all nodes: 101, goal 100",
      "free slot to the next drain: 1.5 s, goal 1 s",
    ]);
  });
});
