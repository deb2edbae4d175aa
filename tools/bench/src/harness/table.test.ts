// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { renderTable, showMb, showRatio, showSeconds } from "./report-lines.ts";

describe("renderTable", () => {
  it("makes columns as wide as their widest cell and fills short rows", () => {
    expect(renderTable(["step", "s"], [["first policy", "12.3"], ["label"]]).split("\n")).toEqual([
      "| step         | s    |",
      "| ------------ | ---- |",
      "| first policy | 12.3 |",
      "| label        |      |",
    ]);
  });
});

describe("show", () => {
  it.each([
    [showSeconds(0.254), "0.25 s"],
    [showSeconds(12.34), "12.3 s"],
    [showSeconds(128.4), "128 s"],
    [showSeconds(undefined), "-"],
    [showRatio(1.084), "1.08 x"],
    [showRatio(undefined), "-"],
    [showMb(117.6), "118 MB"],
    [showMb(undefined), "-"],
  ])("%s is %s", (shown, expected) => {
    expect(shown).toBe(expected);
  });
});
