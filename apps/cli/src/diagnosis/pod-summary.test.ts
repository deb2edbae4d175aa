// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { countOf } from "./pod-summary.ts";

describe("countOf", () => {
  it.each<{ readonly quantity: unknown; readonly count: number }>([
    { quantity: "2", count: 2 },
    { quantity: 3, count: 3 },
    { quantity: "1k", count: 1000 },
    { quantity: "1Gi", count: 0 },
    { quantity: { toString: 1 }, count: 0 },
    { quantity: {}, count: 0 },
    { quantity: ["4"], count: 0 },
    { quantity: "9".repeat(400), count: 0 },
    { quantity: null, count: 0 },
  ])("reads $quantity as $count", ({ quantity, count }) => {
    expect(countOf(quantity)).toBe(count);
  });
});
