// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { atMost, missedLines, quantile, showMb, showRatio, showSeconds } from "./report.ts";

describe("atMost", () => {
  it("is met at the limit and missed above it", () => {
    const goals = [atMost("peak RSS", 130, 130, "MB"), atMost("CPU", 0.061, 0.05, "s")];
    expect(missedLines(goals)).toEqual(["CPU: 0.06 s, goal 0.05 s"]);
  });

  it("is missed if the value is undefined", () => {
    expect(missedLines([atMost("forks", undefined, 0, "")])).toEqual(["forks: not measured, goal 0"]);
  });
});

describe("show", () => {
  it.each([
    [showSeconds(0.254), "0.25 s"],
    [showSeconds(12.34), "12.3 s"],
    [showSeconds(128.4), "128 s"],
    [showSeconds(undefined), "-"],
    [showRatio(2.71, 2.5), "1.08 x"],
    [showRatio(1, undefined), "-"],
    [showMb(117.6), "118 MB"],
    [showMb(undefined), "-"],
  ])("%s is %s", (shown, expected) => {
    expect(shown).toBe(expected);
  });
});

describe("quantile", () => {
  it("returns measured values, in any order of the times", () => {
    const times = Array.from({ length: 300 }, (_, index) => 300 - index);
    expect([0.5, 0.99, 1].map((share) => quantile(times, share))).toEqual([150, 297, 300]);
    expect(quantile([7], 0.99)).toBe(7);
    expect(quantile([], 0.5)).toBeNaN();
  });
});
