// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { mapConcurrently } from "./map-concurrently.ts";

describe("mapConcurrently", () => {
  it("is Promise.all, with no more than `limit` under way", async () => {
    const holds = fc.asyncProperty(fc.array(fc.nat()), fc.integer({ min: 1, max: 9 }), async (items, limit) => {
      let underWay = 0;
      let most = 0;
      const results = await mapConcurrently(items, limit, async (item) => {
        most = Math.max(most, ++underWay);
        await Promise.resolve();
        underWay--;
        return item * 2;
      });
      expect(results).toEqual(items.map((item) => item * 2));
      expect(most).toBeLessThanOrEqual(limit);
    });
    await fc.assert(holds);
  });

  it("rejects with the first error", async () => {
    await expect(mapConcurrently([1, 2], 1, (item) => Promise.reject(new Error(`no ${item}`)))).rejects.toThrow("no 1");
  });
});
