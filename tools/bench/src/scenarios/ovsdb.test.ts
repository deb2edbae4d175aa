// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { missedGoals } from "../harness/report.ts";
import { ovsdb } from "./ovsdb.ts";

const options = { bridges: 1, rounds: 1, changes: 2 };
const goalsFor = (times: { clientMs: readonly number[]; dumpMs: readonly number[]; changeMs: readonly number[] }) =>
  ovsdb.goals({ ...times, versions: {}, cacheMb: 1 }, options);

describe("the goals of ovsdb", () => {
  it("compare the best times and the median of the changes", () => {
    const goals = goalsFor({ clientMs: [900, 140], dumpMs: [100, 400], changeMs: [1, 2, 300] });
    expect(goals.map(({ value, met }) => [value, met])).toEqual([
      [1.4, true],
      [2, true],
    ]);
  });

  it("are missed by what is slower, and by what was not measured", () => {
    expect(missedGoals(goalsFor({ clientMs: [200], dumpMs: [100], changeMs: [] }))).toHaveLength(2);
  });
});
