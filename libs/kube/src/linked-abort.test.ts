// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { getEventListeners } from "node:events";
import { sleep } from "./clock.ts";
import { linkAbort } from "./linked-abort.ts";
import { FakeClock } from "./testing/fake-clock.ts";

describe("linkAbort", () => {
  it("aborts with the reason of whichever source comes first, also of one that was first already", () => {
    const [a, b] = [new AbortController(), new AbortController()];
    const abort = linkAbort(a.signal, undefined, b.signal);
    b.abort("b");
    a.abort("a");
    expect([abort.signal.reason, linkAbort(a.signal).signal.reason]).toEqual(["b", "a"]);
  });

  it("aborts in time, unless that is taken back or put off", async () => {
    const clock = new FakeClock();
    const [kept, put, taken] = [linkAbort(), linkAbort(), linkAbort()];
    for (const abort of [kept, put, taken]) abort.in(clock, 100, () => new Error("late"));
    put.in(clock, 200, () => new Error("later"));
    taken.clear();
    await clock.advance(100);
    expect([kept, put, taken].map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
    await clock.advance(100);
    expect(put.signal.reason).toMatchObject({ message: "later" });
  });

  it("leaves nothing with its sources and the clock", () => {
    const clock = new FakeClock();
    const source = new AbortController();
    {
      using abort = linkAbort(source.signal);
      abort.in(clock, 100, () => new Error("late"));
      expect(getEventListeners(source.signal, "abort")).toHaveLength(1);
    }
    expect([getEventListeners(source.signal, "abort").length, clock.pending]).toEqual([0, 0]);
  });
});

describe("sleep", () => {
  it("ends in time, or with the signal's reason", async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const asleep = sleep(clock, 100, stop.signal);
    await clock.advance(100);
    await asleep;
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);

    const woken = sleep(clock, 100, stop.signal);
    stop.abort(new Error("enough"));
    await expect(woken).rejects.toThrow("enough");
    await expect(sleep(clock, 100, stop.signal)).rejects.toThrow("enough");
    expect(clock.pending).toBe(0);
  });
});
