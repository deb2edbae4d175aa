// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { maxRestarts, paceRestarts, type NextStep, type RestartCheck, type RestartPace } from "./pace-restarts.ts";

/** Checks one after the other, and returns what each says. */
function check(...checks: readonly RestartCheck[]): readonly NextStep[] {
  let pace: RestartPace | undefined;
  return checks.map((one) => {
    const decided = paceRestarts(pace, one);
    pace = decided.pace;
    return decided.next;
  });
}

const at = (seconds: number, isMissing = true, situation = "a"): RestartCheck => {
  return { isMissing, situation, nowMs: seconds * 1000 };
};

describe("paceRestarts", () => {
  it("restarts nothing as long as all is announced", () => {
    expect(check(at(0, false), at(1000, false))).toEqual(["none", "none"]);
  });

  it("restarts a plugin that has not announced a device for a while, ever more rarely, and then no more", () => {
    expect(check(at(0), at(19), at(20), at(60), at(79), at(80), at(259), at(260), at(270), at(280), at(9999))).toEqual([
      ...["wait", "wait", "restart", "wait", "wait", "restart", "wait", "restart", "wait", "given-up", "given-up"],
    ]);
  });

  it("starts again when the situation changes, but not sooner than a minute after the last restart", () => {
    expect(check(at(0), at(20), at(25, true, "b"), at(45, true, "b"), at(79, true, "b"), at(80, true, "b"))).toEqual([
      ...["wait", "restart", "wait", "wait", "wait", "restart"],
    ]);
  });

  it("waits anew after everything was announced", () => {
    expect(check(at(0), at(20), at(25, false), at(100), at(119), at(120))).toEqual([
      ...["wait", "restart", "none", "wait", "wait", "restart"],
    ]);
  });

  it("never restarts twice within a minute, and never more often than it may in one situation", () => {
    const step = fc.record({ pause: fc.nat(100), isMissing: fc.boolean(), situation: fc.constantFrom("a", "b") });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let now = 0;
        let run = { situation: "", restarts: 0 };
        const times: number[] = [];
        const checks = steps.map(({ pause, isMissing, situation }) => at((now += pause), isMissing, situation));
        for (const [index, next] of check(...checks).entries()) {
          const { situation = "", isMissing = false, nowMs = 0 } = checks[index] ?? {};
          if (!isMissing || situation !== run.situation) run = { situation: isMissing ? situation : "", restarts: 0 };
          if (next === "restart") times.push(nowMs);
          if (next === "restart") run = { ...run, restarts: run.restarts + 1 };
          expect(run.restarts).toBeLessThanOrEqual(maxRestarts);
          if (!isMissing) expect(next).toBe("none");
        }
        for (const [index, time] of times.entries()) {
          if (index > 0) expect(time - (times[index - 1] ?? 0)).toBeGreaterThanOrEqual(60_000);
        }
      }),
    );
  });
});
