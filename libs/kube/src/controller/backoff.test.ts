// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { backoffMs } from "../clock.ts";

const range = { baseMs: 200, maxMs: 60_000 };
const below1 = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe("backoffMs", () => {
  it("is between half and all of baseMs * 2^(n-1) and at most maxMs", () => {
    const holds = fc.property(fc.integer({ min: 1, max: 5000 }), below1, (failures, random) => {
      const wholeMs = Math.min(range.maxMs, range.baseMs * 2 ** (failures - 1));
      const ms = backoffMs(failures, range, () => random);
      expect(ms).toBeGreaterThanOrEqual(wholeMs / 2);
      expect(ms).toBeLessThanOrEqual(wholeMs);
    });
    fc.assert(holds);
  });
});
