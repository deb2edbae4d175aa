// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { cniGoals, titles, typicalShortTime } from "./cni-report.ts";

const figures = {
  series: [
    { title: titles.node, ownMs: [20, 21, 22, 90], peakMb: 42 },
    { title: titles.version, ownMs: [22, 23, 24, 80], peakMb: 44 },
    { title: titles.add, ownMs: [29, 30, 31, 99], peakMb: 48 },
  ],
  atOnce: { count: 50, failed: 0, addSeconds: 1.5, nodeSeconds: 1 },
};

describe("typicalShortTime", () => {
  it("ignores slow runs and the single fastest run", () => {
    expect(typicalShortTime([1, 20, ...Array.from({ length: 20 }, () => 500)])).toBe(20);
  });
});

describe("cniGoals", () => {
  it("compares with node -e 0 of the same run", () => {
    expect(cniGoals(figures).map(({ value, met }) => [Math.round(value * 100) / 100, met])).toEqual([
      [1.1, true],
      [1.45, false],
      [48, true],
      [0, true],
    ]);
  });

  it("misses the goals that were not measured", () => {
    expect(cniGoals({ ...figures, series: [] }).filter(({ met }) => met)).toHaveLength(1);
  });
});
