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
    at(time: number, hosts: number, error?: Error) {
      nowMs = time;
      return pace.run(hosts, () => {
        times.push(time);
        return error === undefined ? Promise.resolve() : Promise.reject(error);
      });
    },
  };
}

describe("StatusPace", () => {
  it("pauses 5 s after a status of 1,000 hosts", async () => {
    const { at, times } = setUp();
    expect([await at(0, 1000), await at(3000, 1000), await at(5000, 1000)]).toEqual([undefined, 2000, undefined]);
    expect(times).toEqual([0, 5000]);
  });

  it("hardly pauses in small clusters, and not if nothing is selected", async () => {
    const { at, times } = setUp();
    expect([await at(0, 3), await at(10, 3), await at(15, 0), await at(15, 0)]).toEqual([
      ...[undefined, 5, undefined, undefined],
    ]);
    expect(times).toEqual([0, 15, 15]);
  });

  it("pauses after a failure, too", async () => {
    const { at } = setUp();
    await expect(at(0, 1000, new Error("refused"))).rejects.toThrow("refused");
    expect(await at(1, 1000)).toBe(4999);
  });
});
