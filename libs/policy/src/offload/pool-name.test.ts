// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { hashedPoolNameOf, isPoolName, poolNameOf } from "./pool-name.ts";

describe("poolNameOf", () => {
  it.each<{ does: string; selector: Record<string, string>; name: string | RegExp }>([
    { does: "the role", selector: { "node-role.kubernetes.io/dpu-host": "" }, name: "dpu-host" },
    { does: "key and value", selector: { card: "bf2" }, name: "card-bf2" },
    { does: "a hash for several labels", selector: { b: "1", a: "" }, name: /^a-[0-9a-f]{6}$/ },
    { does: "a hash for a foreign prefix", selector: { "example.com/dpu": "" }, name: /^dpu-[0-9a-f]{6}$/ },
    { does: "a hash for capital letters", selector: { Card: "BF2" }, name: /^card-bf2-[0-9a-f]{6}$/ },
  ])("has $does", ({ selector, name }) => {
    if (typeof name === "string") expect(poolNameOf(selector)).toBe(name);
    else expect(poolNameOf(selector)).toMatch(name);
  });

  it("keeps as much of a long label as fits before the hash", () => {
    const key = "a".repeat(80);
    expect(hashedPoolNameOf({ [key]: "" })).toMatch(/^a{56}-[0-9a-f]{6}$/);
  });

  it("is always a valid name that does not depend on the order of the labels", () => {
    const selectors = fc.dictionary(fc.string({ maxLength: 80 }), fc.string({ maxLength: 80 }), { minKeys: 1 });
    const isValid = fc.property(selectors, (selector) => {
      const reversed = Object.fromEntries(Object.entries(selector).reverse());
      for (const nameOf of [poolNameOf, hashedPoolNameOf]) {
        expect(isPoolName(nameOf(selector))).toBe(true);
        expect(nameOf(reversed)).toBe(nameOf(selector));
      }
    });
    fc.assert(isValid);
  });
});
