// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parseCniOptions } from "./cni-options.ts";

describe("parseCniOptions", () => {
  it("has defaults", () => {
    expect(parseCniOptions([])).toEqual({ rounds: 100, atOnce: 50, forms: false, json: undefined, check: false });
  });

  it("reads all options", () => {
    const args = ["--rounds", "9", "--at-once", "3", "--forms", "--json", "x", "--check"];
    expect(parseCniOptions(args)).toEqual({ rounds: 9, atOnce: 3, forms: true, json: "x", check: true });
    expect(parseCniOptions(["--help"])).toBe("help");
  });

  it.each([["--rounds", "0"], ["--rounds", "x"], ["--at-once", "-1"], ["--frobnicate"]])("refuses %j", (...args) => {
    expect(() => parseCniOptions(args)).toThrow(expect.objectContaining({ code: "usage" }));
  });
});
