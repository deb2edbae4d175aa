// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { missedBy } from "../harness/testing.ts";
import { diagnosis, listingTitle, type CommandResult } from "./diagnosis.ts";

const fast: CommandResult = {
  title: "doctor",
  seconds: [4, 2],
  peakMb: [300, 200],
  bytes: 5_000_000,
  goal: "diagnosis",
};
const missed = (...commands: readonly CommandResult[]) => missedBy(diagnosis, { versions: {}, commands });

describe("the goals of diagnosis", () => {
  it("compare the best round with 3 s and 250 MB, and pages with 1 MB; the baseline has none", () => {
    expect(missed(fast, { title: "JSON.parse", seconds: [9], peakMb: [900], bytes: 0 })).toEqual([]);
    expect(missed({ ...fast, seconds: [3.1], peakMb: [251], goal: "page" })).toEqual([
      "doctor: 3.1 s, goal 3 s",
      "doctor, peak RSS: 251 MB, goal 250 MB",
      "doctor, size of the page: 5 MB, goal 1 MB",
    ]);
  });

  it("compare a live cluster with the listing alone in the same run", () => {
    const listing: CommandResult = { title: listingTitle, seconds: [1.5, 1], peakMb: [], bytes: 0 };
    const live = (seconds: readonly number[]): CommandResult => ({ ...fast, title: "live", goal: "live", seconds });
    expect(missed(listing, live([3, 9]))).toEqual([]);
    expect(missed(listing, live([3.1]))).toEqual(["live, beside the listing: 2.1 s, goal 2 s"]);
    expect(missed(live([3]))).toEqual(["live, beside the listing: not measured, goal 2 s"]);
  });
});
