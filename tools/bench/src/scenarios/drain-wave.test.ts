// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { DrainLog } from "./drain-wave.ts";

const required = (name: string, current: string) => ({ name, desired: "Drain_Required", current });
const idle = (name: string) => ({ name, desired: "Idle", current: "Idle" });

describe("DrainLog", () => {
  it("counts the nodes that drain at once, and finds the longest time that a slot stayed free", () => {
    const log = new DrainLog(1);
    log.saw(required("a", "Draining"), 1_000);
    expect(log.saw(required("a", "DrainComplete"), 1_100)).toBe(true);
    expect(log.saw(required("a", "DrainComplete"), 1_101)).toBe(false); // a repeated state
    log.freedMs.push(1_300);
    log.saw(idle("a"), 1_400);
    log.saw(required("b", "Draining"), 2_000);
    log.saw(required("b", "DrainComplete"), 2_100);
    log.freedMs.push(2_200);
    log.saw(idle("b"), 2_300);

    expect([log.ended.size, log.busy]).toEqual([2, 0]);
    expect(log.figures()).toEqual({ limit: 1, peak: 1, starts: 2, longestGapSeconds: 0.7 });
  });

  it("detects too many concurrent drains, and a node that is drained twice", () => {
    const log = new DrainLog(1);
    for (const name of ["a", "b"]) log.saw(required(name, "Draining"), 0);
    log.saw(required("a", "Idle"), 1);
    log.saw(required("a", "Draining"), 2);
    expect(log.figures()).toMatchObject({ peak: 2, starts: 3 });
  });
});
