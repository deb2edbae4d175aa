// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { missedGoals } from "../harness/report.ts";
import type { StepResult } from "../harness/step.ts";
import { bpfman, type BpfmanStepId } from "./bpfman.ts";

const options = { connections: 32, cpuProf: undefined };
const requests = { writes: { "update leases": 3 }, reads: {}, failed: {} };

function step(id: BpfmanStepId, more: Partial<StepResult<BpfmanStepId>> = {}): StepResult<BpfmanStepId> {
  return {
    id,
    round: 1,
    load: { ownSeconds: 1, othersBusy: 0 },
    cpuSeconds: 1,
    rssMb: 110,
    peakMb: 120,
    requests,
    ...more,
  };
}

const timed = (id: BpfmanStepId, seconds: number) => step(id, { seconds, plainSeconds: 10 });
const missedOf = (steps: readonly StepResult<BpfmanStepId>[], nodes = 1000) =>
  missedGoals(bpfman.goals({ versions: {}, steps, builtinPeakMb: 100, complaints: [] }, { ...options, nodes })).map(
    ({ what }) => what,
  );

describe("the goals of bpfman", () => {
  it("allow 1.25 times the plain client, 20 MB more, and no writes without a change", () => {
    expect(missedOf([timed("load", 12.5), step("loaded"), step("restart"), timed("remove", 12.5)])).toEqual([]);
    const writes = { ...requests, writes: { "patch clusterbpfapplications": 1 } };
    expect(
      missedOf([
        timed("load", 12.6),
        step("loaded", { peakMb: 121 }),
        step("restart", { requests: writes }),
        timed("remove", 12.6),
      ]),
    ).toEqual([
      "loader bpfman, objects for all devices / plain client",
      "loader builtin, all devices confirmed / plain client",
      "restart, converged, writes",
      "peak RSS more than with loader builtin",
    ]);
  });

  it("have no limits for time below 1,000 nodes", () => {
    expect(missedOf([timed("load", 99), step("restart"), timed("remove", 99)], 100)).toEqual([]);
  });

  it("are missed by steps that were not measured", () => {
    expect(missedOf([])).toContain("restart, converged, writes");
    expect(missedOf([step("load"), step("restart"), step("remove")])).toHaveLength(2);
  });
});
