// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { bootClock, createBootClock } from "./boot-clock.ts";

function machine() {
  const now = { uptimeMs: 5_000, wallMs: 1_700_000_000_000, looks: 0 };
  const clock = createBootClock({
    uptimeMs() {
      now.looks += 1;
      return now.uptimeMs;
    },
    wallMs: () => now.wallMs,
  });
  const pass = (ms: number): void => {
    now.uptimeMs += ms;
    now.wallMs += ms;
  };
  return { now, clock, pass };
}

describe("createBootClock", () => {
  it("looks once for all who ask within a step", () => {
    const { now, clock, pass } = machine();
    expect(clock.nowMs()).toBe(5_000);
    pass(9);
    expect(clock.nowMs()).toBe(5_000);
    expect(now.looks).toBe(1);
    pass(1);
    expect(clock.nowMs()).toBe(5_010);
  });

  it("knows at once that the machine has slept", () => {
    const { clock, pass } = machine();
    clock.nowMs();
    pass(60_000);
    expect(clock.nowMs()).toBe(65_000);
  });

  it("is not moved by a wall clock that is set back or forth", () => {
    const { now, clock, pass } = machine();
    clock.nowMs();
    now.wallMs -= 3_600_000;
    pass(20);
    expect(clock.nowMs()).toBe(5_020);
    now.wallMs += 7_200_000;
    expect(clock.nowMs()).toBe(5_020);
  });

  it("never goes back on a real machine", () => {
    const looks = Array.from({ length: 1_000 }, () => bootClock.nowMs());
    expect(looks).toEqual(looks.toSorted((a, b) => a - b));
  });
});
