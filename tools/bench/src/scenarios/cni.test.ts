// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { renderReport } from "../harness/scenario.ts";
import { cni, titles, typicalShortTime } from "./cni.ts";

const figures = {
  versions: {},
  series: [
    { title: titles.node, ownMs: [20, 21, 22, 90], peakMb: 42 },
    { title: titles.version, ownMs: [22, 23, 24, 80], peakMb: 44 },
    { title: titles.add, ownMs: [29, 30, 31, 99], peakMb: 48 },
  ],
  atOnce: { count: 50, failed: 0, addSeconds: 1.5, nodeSeconds: 1 },
  forms: [],
  programBytes: 180 * 1024,
  installedBytes: 126 * 2 ** 20,
};
const options = { rounds: 4, atOnce: 50, forms: false };

describe("typicalShortTime", () => {
  it("ignores slow runs and the single fastest run", () => {
    expect(typicalShortTime([1, 20, ...Array.from({ length: 20 }, () => 500)])).toBe(20);
  });
});

describe("the goals of cni", () => {
  it("compare with node -e 0 of the same run", () => {
    expect(cni.goals(figures, options).map(({ value, met }) => [Math.round(value * 100) / 100, met])).toEqual([
      [1.1, true],
      [1.45, false],
      [48, true],
      [0, true],
    ]);
  });

  it("are missed if nothing was measured", () => {
    expect(cni.goals({ ...figures, series: [] }, options).filter(({ met }) => met)).toHaveLength(1);
  });
});

describe("the report of cni", () => {
  it("shows every program, the concurrent ADDs and the missed goals", () => {
    const machine = { processor: "x", processors: 2, memoryMb: 1, kernel: "k", node: "v24", loadBefore: 0 };
    const text = renderReport(cni, { date: "2026-11-20T00:00:00.000Z", machine }, { figures, options });
    expect(text).toContain("| ADD, virtual machine | 29.0 ");
    expect(text).toContain("50 ADDs at once: 1.50 s, 0 failed");
    expect(text).toContain("missed: own time of an ADD beside node -e 0: 1.45 x, goal 1.4 x");
    expect(text).not.toContain("other ways");
  });
});
