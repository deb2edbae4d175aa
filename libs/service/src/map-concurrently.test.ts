// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { mapConcurrently } from "./promises.ts";

describe("mapConcurrently", () => {
  it("returns what Promise.all returns, with at most `limit` calls at once", async () => {
    const holds = fc.asyncProperty(fc.array(fc.nat()), fc.integer({ min: 1, max: 9 }), async (items, limit) => {
      let running = 0;
      let most = 0;
      const results = await mapConcurrently(items, limit, async (item) => {
        most = Math.max(most, ++running);
        await Promise.resolve();
        running--;
        return item * 2;
      });
      expect(results).toEqual(items.map((item) => item * 2));
      expect(most).toBe(Math.min(limit, items.length));
    });
    await fc.assert(holds);
  });

  it("rejects with the first error and starts no further call", async () => {
    const started: number[] = [];
    const fail = (item: number) => {
      started.push(item);
      return Promise.reject(new Error(`no ${item}`));
    };
    await expect(mapConcurrently([1, 2], 1, fail)).rejects.toThrow("no 1");
    expect(started).toEqual([1]);
  });
});
