// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { bootClock, createBootClock } from "../clock.ts";

function machine() {
  const now = { uptimeMs: 5_000, wallMs: 1_700_000_000_000, reads: 0 };
  const clock = createBootClock({
    uptimeMs() {
      now.reads += 1;
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
  it("reads the uptime once per step", () => {
    const { now, clock, pass } = machine();
    expect(clock.nowMs()).toBe(5_000);
    pass(9);
    expect(clock.nowMs()).toBe(5_000);
    expect(now.reads).toBe(1);
    pass(1);
    expect(clock.nowMs()).toBe(5_010);
  });

  it("continues during a suspend of the machine", () => {
    const { clock, pass } = machine();
    clock.nowMs();
    pass(60_000);
    expect(clock.nowMs()).toBe(65_000);
  });

  it("ignores changes of the wall clock", () => {
    const { now, clock, pass } = machine();
    clock.nowMs();
    now.wallMs -= 3_600_000;
    pass(20);
    expect(clock.nowMs()).toBe(5_020);
    now.wallMs += 7_200_000;
    expect(clock.nowMs()).toBe(5_020);
  });

  it("never goes back on this machine", () => {
    const reads = Array.from({ length: 1_000 }, () => bootClock.nowMs());
    expect(reads).toEqual(reads.toSorted((a, b) => a - b));
  });
});
