// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { renderDaemonReport } from "./daemon-report.ts";
import type { DaemonReport } from "./daemon-report.ts";

const requests = { writes: { "patch states/status": 2 }, reads: { "list states": 1 }, failed: {} };
const cost = { cpuSeconds: 0.5, childFaults: 0, requests };

const report: DaemonReport = {
  bench: "daemon",
  host: "VM lab, igb",
  date: "2026-11-20T00:00:00.000Z",
  machine: { processor: "X", processors: 2, memoryMb: 100, kernel: "6.12", node: "v24", loadBefore: 0.5 },
  versions: { etcd: "3.6" },
  kernelTimes: { "0 -> 4": { seconds: 1, withUdevSeconds: 1.5 } },
  starts: [1, 2].map((round) => ({ ...cost, title: "start", round, seconds: 3 - round, rssMb: 60, peakMb: 61 })),
  changes: [{ ...cost, title: "0 -> 4", round: 1, settledSeconds: 1.5, childFaults: 200 }],
  refusals: [{ ...cost, title: "9 of 7", shownSeconds: 0.2, words: "only 7", isAnythingDestroyed: false }],
  flaps: [],
  idle: { ...cost, seconds: 30, rssMb: 60 },
  peakMb: 61,
  stopSeconds: [0.1],
  goals: [],
};

describe("renderDaemonReport", () => {
  const lines = renderDaemonReport(report).split("\n");
  const cellsOf = (title: string) =>
    lines.filter((line) => line.startsWith(`| ${title}`)).map((line) => line.split("|").map((cell) => cell.trim()))[0];

  it("shows a change next to the kernel's time", () => {
    const requestCell = "2 patch states/status, 1 list states";
    expect(cellsOf("0 -> 4")).toEqual([
      ...["", "0 -> 4", "1.00 s", "1.50 s", "-", "1.50 s", "1.50 x", "0.50 s", "some", requestCell, ""],
    ]);
  });

  it("shows each round of a start", () => {
    expect(cellsOf("start,")?.[2]).toBe("2.00 s");
    expect(cellsOf("start (2),")?.[2]).toBe("1.00 s");
  });

  it("shows whether a refusal destroyed VFs, and its error", () => {
    expect(cellsOf("9 of 7")?.slice(2, 5)).toEqual(["0.20 s", "", "untouched"]);
    expect(lines).toContain('9 of 7: "only 7"');
  });
});
