// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createStatusPace } from "./status-pace.ts";

/** A pace whose clock only a test moves, and the times of the writes. */
function setUp() {
  const times: number[] = [];
  let nowMs = 0;
  const pace = createStatusPace(() => nowMs);
  return {
    times,
    at(time: number, tookMs: number, error?: Error) {
      nowMs = time;
      return pace.run(() => {
        times.push(time);
        nowMs += tookMs;
        return error === undefined ? Promise.resolve() : Promise.reject(error);
      });
    },
  };
}

describe("StatusPace", () => {
  it("pauses ten times as long as a write took", async () => {
    const { at, times } = setUp();
    expect([await at(0, 100), await at(500, 100), await at(1100, 0), await at(1100, 0)]).toEqual([
      ...[undefined, 600, undefined, undefined],
    ]);
    expect(times).toEqual([0, 1100, 1100]);
  });

  it("pauses for 10 s at most, also after a failure", async () => {
    const { at } = setUp();
    await expect(at(0, 5_000, new Error("refused"))).rejects.toThrow("refused");
    expect([await at(6_000, 0), await at(15_000, 0)]).toEqual([9_000, undefined]);
  });
});
