// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { atMost } from "../harness/goal.ts";
import { renderOvnOffloadReport, type OvnOffloadReport } from "./ovn-offload-report.ts";

const report: OvnOffloadReport = {
  bench: "ovn-offload",
  date: "2026-11-20T00:00:00.000Z",
  machine: { processor: "X", processors: 2, memoryMb: 100, kernel: "6.12", node: "v24", loadBefore: 0.5 },
  versions: { kubernetes: "v1.36.3" },
  options: { nodes: 1000, pools: 20, connections: 32, rounds: 1 },
  steps: [
    {
      id: "select",
      round: 2,
      seconds: 3,
      statusSeconds: 4,
      plainSeconds: 2.5,
      bytes: 1_500_100,
      load: { ownSeconds: 4.5, othersBusy: 0.04 },
      plainLoad: { ownSeconds: 4, othersBusy: 0.5 },
      cpuSeconds: 0.7,
      rssMb: 81.2,
      peakMb: 88,
      requests: {
        writes: { "patch nodes": 1003, "update leases": 2 },
        reads: {},
        failed: { "409 patch nodes": 1 },
      },
    },
    {
      id: "idle",
      round: 1,
      bytes: 0,
      load: { ownSeconds: 0, othersBusy: 0 },
      cpuSeconds: 0,
      rssMb: 81,
      peakMb: 88,
      requests: { writes: {}, reads: {}, failed: {} },
    },
  ],
  stopSeconds: [0.1],
  goals: [atMost("peak RSS", 91, 90, "MB"), atMost("CPU", 1, 2, "s")],
  complaints: ['{"level":"warn","msg":"a complaint"}'],
};

describe("renderOvnOffloadReport", () => {
  const lines = renderOvnOffloadReport(report).split("\n");
  const cells = (title: string) =>
    (lines.find((line) => line.startsWith(`| ${title}`)) ?? "").split("|").map((cell) => cell.trim());

  it("shows the times, cost and writes of a step in one row, without those of leases", () => {
    expect(cells("select all pools: labels, policies, DNS (2)")).toEqual([
      ...[
        "",
        "select all pools: labels, policies, DNS (2)",
        "3.00 s",
        "2.50 s",
        "1.20 x",
        "4.00 s",
        "0.0 / 0.5",
        "0.70 s",
      ],
      ...["81 MB", "88 MB", "1501 kB", "1003 patch nodes; refused: 1 409 patch nodes", ""],
    ]);
  });

  it("shows a step without writes", () => {
    expect(cells("idle")).toEqual(["", "idle", "-", "-", "-", "-", "0.0", "0.00 s", "81 MB", "88 MB", "0 kB", "0", ""]);
  });

  it("names the machine, the missed goals and the warnings in the log", () => {
    expect(lines[1]).toBe("X x 2, 100 MB, Linux 6.12, Node v24, load 0.5; kubernetes v1.36.3");
    expect(lines).toContain("1 of 2 goals met");
    expect(lines).toContain("  missed: peak RSS: 91 MB, goal 90 MB");
    expect(lines).toContain('  {"level":"warn","msg":"a complaint"}');
  });
});
