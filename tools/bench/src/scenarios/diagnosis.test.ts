// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { missedGoals } from "../harness/report.ts";
import { diagnosis, listingTitle, type CommandResult } from "./diagnosis.ts";

const fast: CommandResult = {
  title: "doctor",
  seconds: [4, 2],
  peakMb: [300, 200],
  bytes: 5_000_000,
  goal: "diagnosis",
};

const goalsFor = (commands: readonly CommandResult[]) =>
  diagnosis.goals({ versions: { kubernetes: "v1", etcd: "3" }, commands }, { nodes: 1, vfs: 1, rounds: 1 });

describe("the goals of diagnosis", () => {
  it("compare the best round with 3 s and 250 MB, and pages with 1 MB", () => {
    expect(missedGoals(goalsFor([fast, { ...fast, title: "JSON.parse", seconds: [9] }].slice(0, 1)))).toEqual([]);
    const slow: CommandResult = { ...fast, seconds: [3.1], peakMb: [251], goal: "page" };
    expect(missedGoals(goalsFor([slow])).map(({ what }) => what)).toEqual([
      "doctor",
      "doctor, peak RSS",
      "doctor, size of the page",
    ]);
  });

  it("compare a live cluster with the listing alone in the same run", () => {
    const listing: CommandResult = { title: listingTitle, seconds: [1.5, 1], peakMb: [], bytes: 0 };
    const live: CommandResult = { ...fast, title: "doctor, live", goal: "live" };
    expect(missedGoals(goalsFor([listing, { ...live, seconds: [3, 9] }]))).toEqual([]);
    const goals = goalsFor([listing, { ...live, seconds: [3.1] }]);
    expect(missedGoals(goals).map(({ what }) => what)).toEqual(["doctor, live, beside the listing"]);
    expect(missedGoals(goalsFor([live])).length).toBe(1);
  });

  it("are none for the baseline", () => {
    expect(goalsFor([{ title: "JSON.parse", seconds: [9], peakMb: [900], bytes: 0 }])).toEqual([]);
  });
});
