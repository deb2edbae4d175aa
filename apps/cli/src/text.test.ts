// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { printable } from "./text.ts";

describe("printable", () => {
  it.each([
    { text: "a  b", result: "a  b" },
    { text: "a \n\n  b\t\n c", result: "a b c" },
    { text: "a\n", result: "a " },
    { text: "a\u009b2Jb", result: "a?2Jb" },
    { text: "node\u202exfp", result: "node?xfp" },
    { text: "\r\n a\u001b[1m", result: " a?[1m" },
  ])("puts $text on one line", ({ text, result }) => {
    expect(printable(text)).toBe(result);
  });

  it("takes time in proportion to the text, also for many blanks", () => {
    const time = (blanks: number): number => {
      const from = performance.now();
      for (let round = 0; round < 20; round += 1) printable(`a${" ".repeat(blanks)}b`);
      return performance.now() - from;
    };
    time(60_000);
    expect(time(600_000)).toBeLessThan(Math.max(2_000, 100 * time(60_000)));
  });
});
