// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { clip, count, listNames, quote } from "./phrase.ts";

describe("phrases", () => {
  it.each([
    { names: [], text: "" },
    { names: ["a"], text: "a" },
    { names: ["a", "b", "c", "d"], text: "a, b, c, d" },
    { names: ["a", "b", "c", "d", "e"], text: "a, b, c and 2 more" },
  ])("list $names", ({ names, text }) => {
    expect(listNames(names)).toBe(text);
  });

  it("count", () => {
    expect([count(0, "node"), count(1, "node"), count(2, "node")]).toEqual(["0 nodes", "1 node", "2 nodes"]);
  });

  it("stay on one line and short, as headers must", () => {
    expect(clip("a\nb\r\n\u0000c", 80)).toBe("a b c");
    expect(clip("x".repeat(300), 200)).toHaveLength(200);
    expect(quote('say "hi"\n')).toBe('"say \\"hi\\" "');
  });
});
