// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { missedBy } from "../harness/testing.ts";
import { webhook, type LoadResult, type ProfileResult } from "./webhook.ts";

function load(overrides: Partial<LoadResult>): LoadResult {
  return {
    title: "new policy",
    atOnce: 1,
    round: 1,
    p50: 1,
    p99: 19,
    max: 30,
    cpuSeconds: 0.9,
    wrong: 0,
    ...overrides,
  };
}

function result(overrides: Partial<ProfileResult>): ProfileResult {
  return {
    profile: "pf6",
    policies: 20,
    startSeconds: [1, 1],
    loads: [load({}), load({ title: "new policy, 8 at once", atOnce: 8, p99: 59 })],
    baseline: [],
    comparison: { reviews: 10, wrong: 0, otherWarnings: 3 },
    rssMb: 100,
    peakMb: 130,
    baselinePeakMb: 80,
    lists: 0,
    versions: {},
    ...overrides,
  };
}

const missed = (overrides: Partial<ProfileResult>, nodes = 1000) =>
  missedBy(webhook, { versions: {}, profiles: [result(overrides)] }, ["--nodes", `${nodes}`]);

describe("the goals of webhook", () => {
  it("are other ones for reviews that come eight at once", () => {
    expect(missed({})).toEqual([]);
    expect(
      missed({ loads: [load({ p99: 21 }), load({ title: "new policy, 8 at once", atOnce: 8, p99: 61 })] }),
    ).toEqual(["pf6, new policy, p99: 21 ms, goal 20 ms", "pf6, new policy, 8 at once, p99: 61 ms, goal 60 ms"]);
  });

  it("take the best latency of all rounds and the worst CPU time", () => {
    expect(missed({ loads: [load({ p99: 90 }), load({ round: 2 })] })).toEqual([]);
    expect(missed({ loads: [load({ cpuSeconds: 1.2 }), load({ round: 2 })] })).toEqual([
      "pf6, new policy, CPU of 100: 1.2 s, goal 1 s",
    ]);
  });

  it("allow no wrong decision and no list in any fleet", () => {
    const wrong = { loads: [load({ wrong: 1, p99: 900 })], comparison: { reviews: 10, wrong: 2, otherWarnings: 0 } };
    expect(missed({ ...wrong, lists: 4, peakMb: 500 }, 5000)).toEqual([
      "pf6, wrong decisions: 3, goal 0",
      "pf6, lists while reviewing: 4, goal 0",
    ]);
  });

  it("ignore the figures of nodes that are not alike, except wrong decisions", () => {
    const slow = { profile: "vf256-in-pods", loads: [load({ p99: 90 })], peakMb: 131 } as const;
    expect(missed({ ...slow, lists: 1 })).toEqual(["vf256-in-pods, lists while reviewing: 1, goal 0"]);
  });
});
