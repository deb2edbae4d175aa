// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parseOvsdbOptions } from "./ovsdb-options.ts";

describe("parseOvsdbOptions", () => {
  it("has defaults", () => {
    const defaults = { bridges: 1000, rounds: 10, changes: 100, json: undefined, check: false };
    expect(parseOvsdbOptions([])).toEqual(defaults);
    expect(parseOvsdbOptions(["--help"])).toBe("help");
  });

  it.each([["--bridges", "0"], ["--rounds", "x"], ["--changes", "1"], ["--frobnicate"]])("refuses %j", (...args) => {
    expect(() => parseOvsdbOptions(args)).toThrow(expect.objectContaining({ code: "usage" }));
  });
});
