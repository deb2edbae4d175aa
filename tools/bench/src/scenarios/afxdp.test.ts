// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { missedGoals } from "../harness/report.ts";
import type { StepResult } from "../harness/step.ts";
import { afxdp, type AfxdpStepId } from "./afxdp.ts";

const options = { connections: 32, rounds: 3, cpuProf: undefined };
const load = { ownSeconds: 1, othersBusy: 0 };
const requests = { writes: { "update leases": 3 }, reads: {}, failed: {} };

function step(id: AfxdpStepId, more: Partial<StepResult<AfxdpStepId>> = {}): StepResult<AfxdpStepId> {
  return { id, round: 1, load, cpuSeconds: 1, rssMb: 90, peakMb: 100, requests, ...more };
}

const missedOf = (results: readonly StepResult<AfxdpStepId>[], nodes = 1000) =>
  missedGoals(afxdp.goals({ versions: {}, steps: results, complaints: [] }, { ...options, nodes })).map(
    ({ what }) => what,
  );

const good = [
  ...[step("off"), step("config", { seconds: 1.5, plainSeconds: 1, peakMb: 119 }), step("report")],
  ...[step("policy", { seconds: 1.3, plainSeconds: 1 }), step("policy", { round: 2, seconds: 9, plainSeconds: 10 })],
  ...[step("restart"), step("delete", { seconds: 1.3, plainSeconds: 1 })],
];

describe("the goals of afxdp", () => {
  it("allow 1.25 times the plain client after the debounce, 20 MB more, and no writes without a change", () => {
    expect(missedOf(good)).toEqual([]);
    expect(missedOf([...good, step("change", { seconds: 1.4, plainSeconds: 1 })])).toEqual([
      "change numSfs, after the debounce / plain client",
    ]);
    expect(missedOf([...good, step("delete", { peakMb: 121, seconds: 1, plainSeconds: 1 })])).toEqual([
      "peak RSS more than without AF_XDP",
    ]);
    const writes = { ...requests, writes: { "patch afxdpnetworknodestates": 1 } };
    expect(missedOf([...good, step("restart", { requests: writes })])).toEqual(["restart, converged, writes"]);
  });

  it("have no limits for time below 1,000 nodes", () => {
    expect(missedOf([...good, step("change", { seconds: 9, plainSeconds: 1 })], 100)).toEqual([]);
  });

  it("are missed by steps without a time", () => {
    expect(missedOf([...good, step("change")]).length).toBe(1);
  });
});
