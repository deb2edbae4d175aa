// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { cutLine, listNames, quote } from "./finding.ts";

describe("phrase.ts", () => {
  it.each([
    { names: [], text: "" },
    { names: ["a"], text: "a" },
    { names: ["a", "b", "c", "d"], text: "a, b, c, d" },
    { names: ["a", "b", "c", "d", "e"], text: "a, b, c and 2 more" },
  ])("lists $names", ({ names, text }) => {
    expect(listNames(names)).toBe(text);
  });

  it("keeps texts short and on one line, as HTTP headers require", () => {
    expect(cutLine("a\nb\r\n\u0000c", 80)).toBe("a b c");
    expect(cutLine("x".repeat(300), 200)).toHaveLength(200);
    expect(quote('say "hi"\n')).toBe('"say \\"hi\\" "');
  });
});
