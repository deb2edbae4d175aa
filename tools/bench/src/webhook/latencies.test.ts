// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { summarize } from "./measure-load.ts";

describe("summarize", () => {
  it("returns measured values, in any order of the times", () => {
    const times = Array.from({ length: 300 }, (_, index) => 300 - index);
    expect(summarize(times)).toEqual({ p50: 150, p99: 297, max: 300 });
    expect(summarize([7])).toEqual({ p50: 7, p99: 7, max: 7 });
  });
});
