// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { atMost, describeGoal, missedGoals } from "./goal.ts";

describe("atMost", () => {
  it("is met at the limit and missed above it", () => {
    const goals = [atMost("peak RSS", 130, 130, "MB"), atMost("CPU", 0.061, 0.05, "s")];
    expect(missedGoals(goals).map(describeGoal)).toEqual(["CPU: 0.06 s, goal 0.05 s"]);
  });

  it("is missed if the value is undefined", () => {
    expect(missedGoals([atMost("forks", undefined, 0, "")]).map(describeGoal)).toEqual(["forks: not measured, goal 0"]);
  });
});
