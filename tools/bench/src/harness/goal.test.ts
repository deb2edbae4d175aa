// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { atMost, describeGoal, missedGoals } from "./goal.ts";

describe("atMost", () => {
  it("is met at the limit itself, and missed beyond", () => {
    const goals = [atMost("peak RSS", 130, 130, "MB"), atMost("CPU", 0.061, 0.05, "s")];
    expect(missedGoals(goals).map(describeGoal)).toEqual(["CPU: 0.06 s, goal 0.05 s"]);
  });

  it("takes what was not measured for missed", () => {
    expect(missedGoals([atMost("forks", undefined, 0, "")]).map(describeGoal)).toEqual(["forks: not measured, goal 0"]);
  });
});
