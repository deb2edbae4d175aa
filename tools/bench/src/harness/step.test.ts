// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { missedLines } from "./report.ts";
import { stepGoals, stepTable, type StepKind, type StepResult } from "./step.ts";
import { cellsOf, onlyWrites, stepOf } from "./testing.ts";

const kinds = {
  change: { title: "change", waitSeconds: 0.5 },
  costly: { title: "costly", cpuSeconds: 3 },
  label: { title: "label", quiet: { cpuSeconds: 0.05 } },
  restart: { title: "restart", quiet: {} },
} satisfies Record<string, StepKind>;

const change = (seconds: number, round = 1, plainSeconds = 3) => stepOf(kinds.change, { round, seconds, plainSeconds });
const missed = (steps: readonly StepResult[], nodes = 1000) =>
  missedLines(stepGoals(steps, { nodes, timesPlain: 1.25 }));

describe("the goals of steps", () => {
  it("allow a multiple of the plain client's time plus the debounce", () => {
    expect(missed([change(4.25)])).toEqual([]);
    expect(missed([change(4.3)])).toEqual(["change, after the debounce / plain client: 1.27 x, goal 1.25 x"]);
    const kind = { title: "load", waitSeconds: 0 };
    expect(missed([stepOf(kind, { seconds: 12.5, plainSeconds: 10 })])).toEqual([]);
    expect(missed([stepOf(kind, { seconds: 12.6, plainSeconds: 10 })])).toEqual([
      "load / plain client: 1.26 x, goal 1.25 x",
    ]);
  });

  it("use the median of the rounds", () => {
    const disturbed = change(9, 2);
    expect(missed([change(4), disturbed, change(4, 3, 12)])).toEqual([]);
    expect(missed([change(4), disturbed, { ...disturbed, round: 3 }])).toHaveLength(1);
    expect(missed([change(4.19), change(4.28, 2)])).toEqual([]); // 1.23 x and 1.26 x
    const cpu = [2, 9, 9].map((cpuSeconds, index) => stepOf(kinds.costly, { round: index + 1, cpuSeconds }));
    expect(missed(cpu)).toEqual(["costly, CPU: 9 s, goal 3 s"]);
  });

  it("are missed if a step did not end", () => {
    expect(missed([stepOf(kinds.change)])).toEqual([
      "change, after the debounce / plain client: not measured, goal 1.25 x",
    ]);
  });

  it("allow more CPU time for more nodes", () => {
    expect(missed([stepOf(kinds.costly, { cpuSeconds: 3.1 })])).toEqual(["costly, CPU: 3.1 s, goal 3 s"]);
    expect(missed([stepOf(kinds.costly, { cpuSeconds: 15 })], 5000)).toEqual([]);
  });

  it("ignore the times of fewer than 1,000 nodes", () => {
    expect(missed([change(9), stepOf(kinds.costly, { cpuSeconds: 9 })], 999)).toEqual([]);
  });

  it("allow no writes except of leases, and almost no CPU time, in steps without effect", () => {
    const label = stepOf(kinds.label, { cpuSeconds: 0.06 });
    const restart = stepOf(kinds.restart, { requests: onlyWrites({ "patch nodes": 2, "update leases": 3 }) });
    expect(missed([label, restart], 10)).toEqual(["label, CPU: 0.06 s, goal 0.05 s", "restart, writes: 2, goal 0"]);
  });
});

describe("the table of steps", () => {
  const all = stepOf(kinds.change, {
    round: 2,
    firstSeconds: 0.12,
    seconds: 3,
    statusSeconds: 4,
    plainSeconds: 2.5,
    bytes: 1_500_100,
    load: { ownSeconds: 4.5, othersBusy: 0.04 },
    plainLoad: { ownSeconds: 4, othersBusy: 0.5 },
    cpuSeconds: 0.7,
    rssMb: 101.2,
    peakMb: 131,
    requests: {
      writes: { "patch states": 1000, "update leases": 2 },
      reads: {},
      failed: { "409 patch states": 1 },
    },
  });

  it("shows the times, cost and writes of a step in one row, without those of leases", () => {
    expect(cellsOf(stepTable([all]).split("\n"), "change (2)")).toEqual([
      ...["change (2)", "0.12 s", "3.00 s", "2.50 s", "1.20 x", "4.00 s", "4.50 s / 4.00 s", "0.0 / 0.5", "0.70 s"],
      ...["101 MB", "131 MB", "1501 kB", "1000 patch states; refused: 1 409 patch states"],
    ]);
  });

  it("shows a step without writes, and no column without a value", () => {
    const idle = stepOf(kinds.label, { load: { ownSeconds: 0, othersBusy: 0 }, cpuSeconds: 0 });
    expect(cellsOf(stepTable([{ ...all, statusSeconds: undefined }, idle]).split("\n"), "label")).toEqual([
      ...["label", "-", "-", "-", "-", "0.00 s", "0.0", "0.00 s", "60 MB", "60 MB", "0 kB", "0"],
    ]);
  });
});
