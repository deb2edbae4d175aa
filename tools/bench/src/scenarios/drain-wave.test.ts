// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createDrainLog } from "./drain-wave.ts";

const required = (name: string, current: string) => ({ name, desired: "Drain_Required", current });

describe("createDrainLog", () => {
  it("counts the nodes that drain at once, and finds the longest time that a slot stayed free", () => {
    const log = createDrainLog(1);
    log.saw(required("a", "Draining"), 1_000);
    expect(log.saw(required("a", "DrainComplete"), 1_100)).toBe("drained");
    log.freed(1_300);
    log.saw({ name: "a", desired: "Idle", current: "Idle" }, 1_400);
    log.saw(required("b", "Draining"), 2_000);
    log.saw(required("b", "DrainComplete"), 2_100);
    log.freed(2_200);
    log.saw({ name: "b", desired: "Idle", current: "Idle" }, 2_300);

    expect([log.ended, log.busy]).toEqual([2, 0]);
    expect(log.result(3, 0.1)).toEqual({
      limit: 1,
      peak: 1,
      starts: 2,
      longestGapSeconds: 0.7,
      allSeconds: 3,
      cpuSeconds: 0.1,
    });
  });

  it("detects too many concurrent drains, and a node that is drained twice", () => {
    const log = createDrainLog(1);
    for (const name of ["a", "b"]) log.saw(required(name, "Draining"), 0);
    log.saw(required("a", "Idle"), 1);
    log.saw(required("a", "Draining"), 2);
    expect(log.result(1, 0)).toMatchObject({ peak: 2, starts: 3 });
  });

  it("ignores a repeated state", () => {
    const log = createDrainLog(1);
    expect(log.saw(required("a", "DrainComplete"), 0)).toBe("drained");
    expect(log.saw(required("a", "DrainComplete"), 1)).toBeUndefined();
  });
});
