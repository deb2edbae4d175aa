// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { parseMaxUnavailable } from "./compiled-pool.ts";

describe("parseMaxUnavailable", () => {
  it.each([
    { does: "returns a number unchanged (sriov-operator.md B.10)", value: 1, nodeCount: 1, limit: 1 },
    { does: "rounds a percentage down (sriov-operator.md B.10)", value: "33%", nodeCount: 10, limit: 3 },
    { does: "sets no limit if absent (sriov-operator.md B.10)", value: undefined, nodeCount: 10, limit: Infinity },
    {
      does: "never rounds a percentage to 0 (sriov-operator.md M-12; upstream does)",
      value: "30%",
      nodeCount: 1,
      limit: 1,
    },
    { does: "accepts 100%", value: "100%", nodeCount: 7, limit: 7 },
    { does: "accepts 0", value: 0, nodeCount: 10, limit: 0 },
  ])("$does: $value of $nodeCount", ({ value, nodeCount, limit }) => {
    expect(parseMaxUnavailable(value, nodeCount)).toEqual({ ok: true, value: limit });
  });

  it.each([
    { does: "rejects text (sriov-operator.md B.10)", value: "bla", code: "not-a-percentage" },
    { does: "rejects a negative number (sriov-operator.md B.10)", value: -1, code: "not-a-count" },
    { does: "rejects numbers as text (sriov-operator.md B.10)", value: "99999999999999999.", code: "not-a-percentage" },
    { does: "rejects more than 100% (sriov-operator.md B.10)", value: "10000%", code: "not-a-percentage" },
    { does: "rejects 0%", value: "0%", code: "not-a-percentage" },
    { does: "rejects fractions", value: 1.5, code: "not-a-count" },
    { does: "rejects % without a number", value: "%", code: "not-a-percentage" },
  ])("$does: $value", ({ value, code }) => {
    expect(parseMaxUnavailable(value, 10)).toEqual({ ok: false, error: { code, value } });
  });

  it("allows at least one node and at most all nodes of a pool for any percentage", () => {
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
