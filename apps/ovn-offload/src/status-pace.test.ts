// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { OffloadState } from "./decide/offload-statuses.ts";
import { createStatusPace } from "./status-pace.ts";

/** A pace whose clock only a test moves, and the times of the writes. */
function setUp() {
  const times: number[] = [];
  let nowMs = 0;
  const pace = createStatusPace(() => nowMs);
  return {
    times,
    /** Writes the status of two pools, the second without hosts. */
    at(time: number, hosts: number, { state = "progressing", error }: Given = {}) {
      nowMs = time;
      const rest = { message: "", readyNodeCount: 0, nodes: [], waitingPods: { count: 0, names: [] } };
      const pools = [
        { pool: "a", nodeCount: hosts, state, ...rest },
        { pool: "b", nodeCount: 0, state: "ready" as const, ...rest },
      ];
      return pace.run({ pools, overall: { state: "progressing", message: "" } }, () => {
        times.push(time);
        return error === undefined ? Promise.resolve() : Promise.reject(error);
      });
    },
  };
}

interface Given {
  readonly state?: OffloadState["state"];
  readonly error?: Error;
}

describe("StatusPace", () => {
  it("writes three statuses of 1,000 hosts at once, and then one each 5 s", async () => {
    const { at, times } = setUp();
    for (let time = 0; time <= 20_000; time += 500) await at(time, 1000);
    expect(times).toEqual([0, 500, 1000, 5000, 10_000, 15_000, 20_000]);
    expect(await at(21_000, 1000)).toBe(4000);
  });

  it("writes three at once again after 15 quiet seconds", async () => {
    const { at, times } = setUp();
    for (const time of [0, 1, 2, 3, 15_100, 15_101, 15_102, 15_103]) await at(time, 1000);
    expect(times).toEqual([0, 1, 2, 15_100, 15_101, 15_102]);
  });

  it("writes another state of a pool at once, and then pauses for no longer", async () => {
    const { at, times } = setUp();
    for (const time of [0, 1, 2, 3]) await at(time, 1000);
    for (const state of ["ready", "degraded", "ready", "degraded"] as const) await at(4, 1000, { state });
    expect(times).toEqual([0, 1, 2, 4, 4, 4, 4]);
    expect(await at(5, 1000, { state: "degraded" })).toBe(4999);
  });

  it("hardly pauses in small clusters, and not if nothing is selected", async () => {
    const { at } = setUp();
    for (const hosts of [3, 3, 3]) await at(0, hosts);
    expect(await at(10, 3)).toBe(5);
    for (let count = 0; count < 9; count++) expect(await at(10, 0)).toBe(undefined);
  });

  it("pauses after a failure, too", async () => {
    const { at, times } = setUp();
    const error = new Error("refused");
    for (let count = 0; count < 3; count++) await expect(at(0, 1000, { error })).rejects.toThrow("refused");
    expect(await at(1, 1000)).toBe(4999);
    expect(times).toEqual([0, 0, 0]);
  });
});
