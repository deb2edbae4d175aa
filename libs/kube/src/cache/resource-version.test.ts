// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { isBehind } from "./cache.ts";

describe("isBehind", () => {
  it("compares numbers of any size", () => {
    const version = fc.bigInt({ min: 1n, max: 2n ** 64n });
    const agrees = fc.property(version, version, (a, b) => {
      expect(isBehind(`${a}`, `${b}`)).toBe(a < b);
    });
    fc.assert(agrees);
    expect(isBehind("9", "10")).toBe(true);
  });

  it.each(["", "0", "01", "abc", "1.5"])("returns false for %o", (odd) => {
    expect([isBehind(odd, "7"), isBehind("7", odd)]).toEqual([false, false]);
  });
});
