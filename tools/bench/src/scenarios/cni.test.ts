// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { missedBy, reportOf } from "../harness/testing.ts";
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

describe("typicalShortTime", () => {
  it("ignores slow runs and the single fastest run", () => {
    expect(typicalShortTime([1, 20, ...Array.from({ length: 20 }, () => 500)])).toBe(20);
  });
});

describe("the goals of cni", () => {
  it("compare with node -e 0 of the same run", () => {
    expect(missedBy(cni, figures)).toEqual(["own time of an ADD beside node -e 0: 1.45 x, goal 1.4 x"]);
    const slow = figures.series.map((one) => ({ ...one, peakMb: 51, ownMs: one.ownMs.map((ms) => ms + 10) }));
    const node = { title: titles.node, ownMs: [20, 21, 22, 90], peakMb: 42 };
    const atOnce = { ...figures.atOnce, failed: 1 };
    expect(missedBy(cni, { ...figures, series: [node, ...slow.slice(1)], atOnce })).toEqual([
      "VERSION beside node -e 0: 1.6 x, goal 1.15 x",
      "own time of an ADD beside node -e 0: 1.95 x, goal 1.4 x",
      "RSS of an ADD: 51 MB, goal 50 MB",
      "failures of 50 ADDs at once: 1, goal 0",
    ]);
  });

  it("are missed if nothing was measured", () => {
    expect(missedBy(cni, { ...figures, series: [] })).toHaveLength(3);
  });
});

describe("the report of cni", () => {
  it("shows every program, the concurrent ADDs and the missed goals", () => {
    const text = reportOf(cni, figures).join("\n");
    expect(text).toContain("| ADD, virtual machine | 29.0 ");
    expect(text).toContain("50 ADDs at once: 1.50 s, 0 failed");
    expect(text).toContain("missed: own time of an ADD beside node -e 0: 1.45 x, goal 1.4 x");
    expect(text).not.toContain("other ways");
  });
});
