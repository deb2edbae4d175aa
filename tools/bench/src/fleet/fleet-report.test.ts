// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { atMost } from "../harness/goal.ts";
import { renderFleetReport, type FleetReport } from "./fleet-report.ts";

const report: FleetReport = {
  bench: "fleet",
  date: "2026-11-20T00:00:00.000Z",
  machine: { processor: "X", processors: 2, memoryMb: 100, kernel: "6.12", node: "v24", loadBefore: 0.5 },
  versions: { kubernetes: "v1.36.3" },
  options: { nodes: 1000, policies: 10, profile: "pf6", connections: 32, rounds: 1, writeConfigMap: false },
  steps: [
    {
      id: "first-policy",
      round: 2,
      firstSeconds: 0.12,
      allSeconds: 3,
      plainSeconds: 2.5,
      specChanges: 1000,
      load: { ownSeconds: 4.5, othersBusy: 0.04 },
      plainLoad: { ownSeconds: 4, othersBusy: 0.5 },
      cpuSeconds: 0.7,
      rssMb: 101.2,
      peakMb: 110,
      requests: {
        writes: { "patch sriovnetworknodestates": 1000, "update leases": 2 },
        reads: {},
        failed: { "409 patch sriovnetworknodestates": 1 },
      },
    },
  ],
  wave: { nodes: 100, limit: 10, peak: 9, starts: 100, longestGapSeconds: 0.4, allSeconds: 9, cpuSeconds: 1 },
  stopSeconds: [0.1],
  goals: [atMost("peak RSS", 131, 130, "MB"), atMost("CPU", 1, 2, "s")],
  complaints: ['{"level":"warn","msg":"a complaint"}'],
};

describe("renderFleetReport", () => {
  const lines = renderFleetReport(report).split("\n");

  it("shows the times, cost and writes of a step in one row, without those of leases", () => {
    const row = lines.find((line) => line.startsWith("| first policy (2)")) ?? "";
    expect(row.split("|").map((cell) => cell.trim())).toEqual([
      "",
      "first policy (2)",
      "0.12 s",
      "3.00 s",
      "2.50 s",
      "1.20 x",
      "4.50 s / 4.00 s",
      "0.0 / 0.5",
      "0.70 s",
      "101 MB",
      "110 MB",
      "1000 patch sriovnetworknodestates; refused: 1 409 patch sriovnetworknodestates",
      "",
    ]);
  });

  it("describes the drains", () => {
    expect(lines.join()).toContain("100 nodes requested a drain at once, 10 were allowed: at most 9 drained at once");
  });

  it("names the machine, the missed goals and the warnings in the operator's log", () => {
    expect(lines[1]).toBe("X x 2, 100 MB, Linux 6.12, Node v24, load 0.5; kubernetes v1.36.3");
    expect(lines).toContain("1 of 2 goals met");
    expect(lines).toContain("  missed: peak RSS: 131 MB, goal 130 MB");
    expect(lines).toContain('  {"level":"warn","msg":"a complaint"}');
  });
});
