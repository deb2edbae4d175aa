// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { renderTable } from "./table.ts";

describe("renderTable", () => {
  it("makes columns as wide as their widest cell and fills short rows", () => {
    expect(renderTable(["step", "s"], [["first policy", "12.3"], ["label"]]).split("\n")).toEqual([
      "| step         | s    |",
      "| ------------ | ---- |",
      "| first policy | 12.3 |",
      "| label        |      |",
    ]);
  });

  it("can leave cells as short as they are", () => {
    expect(renderTable(["step", "s"], [["first policy", ""]], { padded: false }).split("\n")).toEqual([
      "| step | s |",
      "| --- | --- |",
      "| first policy |  |",
    ]);
  });

  it("keeps a cell with a bar or a line break in one cell of one line", () => {
    expect(
      renderTable(["type"], [["a | b\n  c"]])
        .split("\n")
        .at(-1),
    ).toBe("| a \\| b c |");
  });
});
