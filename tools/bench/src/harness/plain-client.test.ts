// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { inParallel } from "./plain-client.ts";

describe("inParallel", () => {
  it("processes all items, and never more than the limit at once", async () => {
    let running = 0;
    let most = 0;
    const done: number[] = [];
    await inParallel([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      done.push(item);
      running -= 1;
    });
    expect(done.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(most).toBe(3);
  });

  it("rejects with the first failure", async () => {
    const work = (item: number) => (item === 2 ? Promise.reject(new Error("refused")) : Promise.resolve());
    await expect(inParallel([1, 2, 3], 1, work)).rejects.toThrow("refused");
  });
});
