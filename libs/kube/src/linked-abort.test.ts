// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { getEventListeners } from "node:events";
import { sleep } from "./clock.ts";
import { linkAbort } from "./linked-abort.ts";
import { FakeClock } from "./testing/fake-clock.ts";

describe("linkAbort", () => {
  it("aborts with the reason of the first source, also if it has aborted before", () => {
    const [a, b] = [new AbortController(), new AbortController()];
    const abort = linkAbort(a.signal, undefined, b.signal);
    b.abort("b");
    a.abort("a");
    expect([abort.signal.reason, linkAbort(a.signal).signal.reason]).toEqual(["b", "a"]);
  });

  it("aborts at the deadline unless it is cancelled or replaced", async () => {
    const clock = new FakeClock();
    const [kept, replaced, cancelled] = [linkAbort(), linkAbort(), linkAbort()];
    for (const abort of [kept, replaced, cancelled]) abort.in(clock, 100, () => new Error("late"));
    replaced.in(clock, 200, () => new Error("later"));
    cancelled.clear();
    await clock.advance(100);
    expect([kept, replaced, cancelled].map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
    await clock.advance(100);
    expect(replaced.signal.reason).toMatchObject({ message: "later" });
  });

  it("leaves no listener or timer behind when it is disposed", () => {
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
  it("resolves after the delay or rejects with the signal's reason", async () => {
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
