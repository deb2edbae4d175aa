// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { missedBy, optionsOf, reportOf, stepOf } from "../harness/testing.ts";
import type { StepResult } from "../harness/step.ts";
import type { DrainWave } from "./drain-wave.ts";
import { fleet, kinds } from "./fleet.ts";

const figures = { versions: { kubernetes: "v1.36.3" }, steps: [], stopSeconds: [0.1], complaints: [] };
const first = (more: Partial<StepResult> = {}) =>
  stepOf(kinds.firstPolicy, { seconds: 3.8, plainSeconds: 3, cpuSeconds: 3, peakMb: 120, ...more });
const wave = { nodes: 100, limit: 10, peak: 9, starts: 100, longestGapSeconds: 0.4, allSeconds: 9, cpuSeconds: 1 };
const missed = (steps: readonly StepResult[], more: Partial<DrainWave> = {}, nodes = 1000) =>
  missedBy(fleet, { ...figures, steps, wave: { ...wave, ...more } }, ["--nodes", `${nodes}`]);

describe("the options of fleet", () => {
  it("default to 1,000 nodes and 10 policies", () => {
    expect(optionsOf(fleet)).toMatchObject({ nodes: 1000, policies: 10, profile: "pf6", drains: 100 });
  });

  it("limit the drains to the number of nodes, and the policies to the VFs", () => {
    expect(optionsOf(fleet, ["--nodes", "20"])).toMatchObject({ nodes: 20, drains: 20 });
    expect(() => optionsOf(fleet, ["--profile", "vf256", "--policies", "34"])).toThrow(
      "--policies must be at most 33 with --profile vf256, but is 34",
    );
  });
});

describe("the goals of fleet", () => {
  it("allow 1.25 times the plain client's time plus the debounce, and a fourth of upstream's CPU time", () => {
    expect(missed([first({ seconds: 3.85 })])).toEqual([]);
    expect(missed([first({ seconds: 3.9, cpuSeconds: 3.1 })])).toEqual([
      "first policy, after the debounce / plain client: 1.27 x, goal 1.25 x",
      "first policy, CPU: 3.1 s, goal 3.03 s",
    ]);
  });

  it.each([
    { kind: kinds.start, why: "the longer debounce of a burst", seconds: 4.25 },
    { kind: kinds.morePolicies, why: "the longer debounce of a burst", seconds: 4.25 },
    { kind: kinds.deletePolicies, why: "the time in which policies may be replaced", seconds: 9.25 },
  ])("allow $why: $kind.title", ({ kind, seconds }) => {
    expect(missed([{ ...first({ seconds }), kind }])).toEqual([]);
    expect(missed([{ ...first({ seconds: seconds + 0.01 }), kind }])).toHaveLength(1);
  });

  it("allow no writes for changes without effect, and almost no CPU time for a label", () => {
    const [label, restart] = [kinds.label, kinds.restart].map((kind) => first({ kind, cpuSeconds: 0.06 }));
    expect(missed([label ?? first(), restart ?? first()])).toEqual([
      "one label on one node (no effect), CPU: 0.06 s, goal 0.05 s",
    ]);
    const { requests } = stepOf(kinds.restart);
    const busy = stepOf(kinds.report, { requests: { ...requests, writes: { "patch nodes": 2 } } });
    expect(missed([busy, { ...busy, kind: kinds.restart }])).toEqual([
      "all daemons report their NICs, writes: 2, goal 0",
      "restart, converged, writes: 2, goal 0",
    ]);
  });

  it("limit the largest memory of all steps, by the number of nodes", () => {
    expect(missed([first({ peakMb: 131 }), first()])).toEqual(["peak RSS: 131 MB, goal 130 MB"]);
    expect(missed([first({ peakMb: 390 })], {}, 5000)).toEqual([]);
  });

  it("limit the concurrent drains, the drains per node and the time that a slot stays free", () => {
    expect(missed([first()], { peak: 10 })).toEqual([]);
    expect(missed([first()], { peak: 11, starts: 101, longestGapSeconds: 1.5 })).toEqual([
      "drains at once: 11, goal 10",
      "drains of all nodes: 101, goal 100",
      "free slot to the next drain: 1.5 s, goal 1 s",
    ]);
  });
});

describe("the report of fleet", () => {
  const steps = [first({ peakMb: 131 })];
  const lines = reportOf(fleet, { ...figures, steps, wave, complaints: ['{"level":"warn","msg":"a complaint"}'] });

  it("describes the drains", () => {
    expect(lines.join("\n")).toContain(
      "100 nodes requested a drain at once, 10 were allowed: at most 9 drained at once",
    );
  });

  it("names the machine, the missed goals and the warnings in the operator's log", () => {
    expect(lines[1]).toBe("a machine; kubernetes v1.36.3");
    expect(lines).toContain("6 of 7 goals met");
    expect(lines).toContain("  missed: peak RSS: 131 MB, goal 130 MB");
    expect(lines).toContain('  {"level":"warn","msg":"a complaint"}');
  });
});
