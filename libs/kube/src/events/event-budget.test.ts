// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { createEventBudget } from "./send-event.ts";

describe("createEventBudget", () => {
  function budget(maxObjects = 10) {
    const clock = { nowMs: 0 };
    const options = { burst: 3, refillMs: 1_000, maxObjects, nowMs: () => clock.nowMs };
    return { clock, ...createEventBudget(options) };
  }

  it("allows a burst, then one write per refill time, and at most a burst after a pause", () => {
    const { clock, take } = budget();
    const takeFive = () => Array.from({ length: 5 }, () => take("a")).filter(Boolean).length;
    const granted = [0, 999, 1_000, 2_000, 60_000].map((nowMs) => {
      clock.nowMs = nowMs;
      return takeFive();
    });
    expect(granted).toEqual([3, 0, 1, 1, 3]);
  });

  it("counts each object separately", () => {
    const { take } = budget();
    expect(["a", "a", "a", "a", "b"].map(take)).toEqual([true, true, true, false, true]);
  });

  it("drops the bucket that was not used for the longest time", () => {
    const { take } = budget(2);
    expect(["a", "a", "a", "b", "a", "c", "a", "b", "b", "b", "b"].map(take)).toEqual(
      [true, true, true, true, false, true, false].concat([true, true, true, false]),
    );
  });

  it("never allows more than the burst and the refilled tokens", () => {
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
