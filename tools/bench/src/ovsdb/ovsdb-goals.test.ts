// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { missedGoals } from "../harness/goal.ts";
import { ovsdbGoals } from "./ovsdb-report.ts";

describe("ovsdbGoals", () => {
  it("compares the best times and the median of the changes", () => {
    const times = { clientMs: [900, 140], dumpMs: [100, 400], changeMs: [1, 2, 300] };
    expect(ovsdbGoals(times).map(({ value, met }) => [value, met])).toEqual([
      [1.4, true],
      [2, true],
    ]);
  });

  it("misses what is slower, and what was not measured", () => {
    expect(missedGoals(ovsdbGoals({ clientMs: [200], dumpMs: [100], changeMs: [] }))).toHaveLength(2);
  });
});
