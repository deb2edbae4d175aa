// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { cniGoals, renderCniReport, titles, type CniReport } from "./cni-report.ts";

const figures = {
  series: [
    { title: titles.node, ownMs: [20, 21, 22, 90], peakMb: 42 },
    { title: titles.version, ownMs: [22, 23, 24, 80], peakMb: 44 },
    { title: titles.add, ownMs: [29, 30, 31, 99], peakMb: 48 },
  ],
  atOnce: { count: 50, failed: 0, addSeconds: 1.5, nodeSeconds: 1 },
};

const report: CniReport = {
  bench: "cni",
  date: "2026-11-20T00:00:00.000Z",
  machine: { processor: "x", processors: 2, memoryMb: 1, kernel: "k", node: "v24", loadBefore: 0 },
  rounds: 4,
  ...figures,
  forms: [],
  programBytes: 180 * 1024,
  installedBytes: 126 * 2 ** 20,
  goals: cniGoals(figures),
};

describe("renderCniReport", () => {
  it("shows every program, the concurrent ADDs and the missed goals", () => {
    const text = renderCniReport(report);
    expect(text).toContain("| ADD, virtual machine | 29.0 ");
    expect(text).toContain("50 ADDs at once: 1.50 s, 0 failed");
    expect(text).toContain("missed: own time of an ADD beside node -e 0: 1.45 x, goal 1.4 x");
    expect(text).not.toContain("other ways");
  });
});
