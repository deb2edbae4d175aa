// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { createBudget } from "./budget.ts";

describe("createBudget", () => {
  function budget(maxObjects = 10) {
    const clock = { nowMs: 0 };
    const options = { burst: 3, refillMs: 1_000, maxObjects, nowMs: () => clock.nowMs };
    return { clock, ...createBudget(options) };
  }

  it("grants a burst, then one each time a refill has passed, and no more than a burst after a pause", () => {
    const { clock, take } = budget();
    const takeFive = () => Array.from({ length: 5 }, () => take("a")).filter(Boolean).length;
    const granted = [0, 999, 1_000, 2_000, 60_000].map((nowMs) => {
      clock.nowMs = nowMs;
      return takeFive();
    });
    expect(granted).toEqual([3, 0, 1, 1, 3]);
  });

  it("counts each object by itself", () => {
    const { take } = budget();
    expect(["a", "a", "a", "a", "b"].map(take)).toEqual([true, true, true, false, true]);
  });

  it("forgets the object that had nothing for longest", () => {
    const { take } = budget(2);
    expect(["a", "a", "a", "b", "a", "c", "a", "b", "b", "b", "b"].map(take)).toEqual(
      [true, true, true, true, false, true, false].concat([true, true, true, false]),
    );
  });

  it("never grants more than the burst and what was refilled", () => {
    const holds = fc.property(fc.array(fc.nat(3_000)), (pauses) => {
      const { clock, take } = budget();
      let granted = 0;
      for (const pauseMs of pauses) {
        clock.nowMs += pauseMs;
        if (take("a")) granted++;
        expect(granted).toBeLessThanOrEqual(3 + clock.nowMs / 1_000);
      }
    });
    fc.assert(holds);
  });
});
