// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import {
  allPoints,
  countPoints,
  planScenarios,
  samplePoints,
  writeFaults,
  type Point,
  type FaultFreeStep,
} from "./points.ts";
import { readFaults } from "./faults.ts";

const facts: fc.Arbitrary<readonly FaultFreeStep[]> = fc
  .array(
    fc.record({
      writeCount: fc.nat(25),
      notifiedResources: fc.subarray(["nodes", "sriovnetworks", "configmaps"]),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((steps) => steps.map((step, at) => ({ step: `step ${at}`, ...step })));

describe("scenarios", () => {
  it("contain each point once, and at most one point per write", () => {
    const property = fc.property(facts, fc.constantFrom(allPoints, samplePoints), (steps, choose) => {
      const points = choose(steps);
      const scenarios = planScenarios(points);
      expect(new Set(scenarios.flat())).toEqual(new Set(points));
      expect(scenarios.flat()).toHaveLength(points.length);
      for (const scenario of scenarios) {
        for (const ofStep of Map.groupBy(scenario, ({ step }) => step).values()) {
          const nths = ofStep.flatMap((point) => ("nth" in point ? [point.nth] : []));
          expect(new Set(nths).size).toBe(nths.length);
          // Only refusals occur together, kills for which the next leader need not wait, and reads of different
          // resources.
          const goTogether = [...writeFaults, ...readFaults].map((fault): string => fault);
          const resources = ofStep.flatMap((point) => ("resource" in point ? [point.resource] : []));
          expect(new Set(resources).size).toBe(resources.length);
          if (!ofStep.every(({ fault }) => goTogether.includes(fault))) expect(ofStep).toHaveLength(1);
        }
      }
    });
    fc.assert(property);
  });
});

describe("a sample", () => {
  it("has a kill and a refusal at each write, and every kind of refusal", () => {
    const points = samplePoints([{ step: "a", writeCount: 10, notifiedResources: ["nodes"] }]);
    const faultsAt = (nth: number) => points.filter((point) => "nth" in point && point.nth === nth).length;
    expect([2, 4, 10].map(faultsAt).every((count) => count >= 2)).toBe(true);
    const faults = new Set(points.map(({ fault }) => fault));
    for (const fault of ["409", "429", "500", "reset before", "reset after", "slow"] as const)
      expect(faults).toContain(fault);
  });
});

describe("a count", () => {
  it("distinguishes kills, refusals, stale caches, reads and leases", () => {
    const points: readonly Point[] = [
      { step: "a", fault: "kill", nth: 1 },
      { step: "a", fault: "restart at rest" },
      { step: "a", fault: "429", nth: 1 },
      { step: "a", fault: "held watch", resource: "nodes" },
      { step: "b", fault: "past at start" },
      { step: "b", fault: "kill, then stale reads", nth: 2 },
      { step: "b", fault: "403 on reading", resource: "nodes" },
      { step: "b", fault: "renewal slow" },
      { step: "b", fault: "lease lost", nth: 1 },
    ];
    expect(countPoints([...points, { step: "b", fault: "silent partition", nth: 1 }])).toBe(
      "10 injection points: 2 kills, 1 refusals, 3 stale, 1 reads, 2 leases, 1 partitions",
    );
  });
});
