// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { parseMaxUnavailable } from "./max-unavailable.ts";

describe("parseMaxUnavailable", () => {
  it.each([
    { does: "takes a number (B.10)", value: 1, nodeCount: 1, limit: 1 },
    { does: "rounds a percentage down (B.10)", value: "33%", nodeCount: 10, limit: 3 },
    { does: "sets no limit where absent (B.10)", value: undefined, nodeCount: 10, limit: Infinity },
    { does: "never rounds a percentage to 0 (M-12; upstream says 0)", value: "30%", nodeCount: 1, limit: 1 },
    { does: "takes all of a pool", value: "100%", nodeCount: 7, limit: 7 },
    { does: "takes a 0 at its word", value: 0, nodeCount: 10, limit: 0 },
  ])("$does: $value of $nodeCount", ({ value, nodeCount, limit }) => {
    expect(parseMaxUnavailable(value, nodeCount)).toEqual({ ok: true, value: limit });
  });

  it.each([
    { does: "refuses words (B.10)", value: "bla", code: "not-a-percentage" },
    { does: "refuses a negative number (B.10)", value: -1, code: "not-a-count" },
    { does: "refuses numbers as text (B.10)", value: "99999999999999999.", code: "not-a-percentage" },
    { does: "refuses more than all (B.10)", value: "10000%", code: "not-a-percentage" },
    { does: "refuses 0 %", value: "0%", code: "not-a-percentage" },
    { does: "refuses fractions", value: 1.5, code: "not-a-count" },
    { does: "refuses a bare %", value: "%", code: "not-a-percentage" },
  ])("$does: $value", ({ value, code }) => {
    expect(parseMaxUnavailable(value, 10)).toEqual({ ok: false, error: { code, value } });
  });

  it("lets at least one node and at most all of a pool go for any percentage", () => {
    const isBounded = fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 5000 }),
      (percent, count) => {
        const limit = parseMaxUnavailable(`${percent}%`, count);
        expect(limit.ok && limit.value >= 1 && limit.value <= count).toBe(true);
      },
    );
    fc.assert(isBounded);
  });
});
