// SPDX-License-Identifier: Apache-2.0
import { readdirSync, utimesSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { markRemoved, unmarkRemoved, wasRemoved } from "./removal-mark.ts";
import { createScratch } from "../testing/scratch.ts";

const one = { containerId: "0af", ifName: "net1" };
const other = { containerId: "0af", ifName: "net2" };

describe("the mark of a removed interface", () => {
  it("exists until the interface is added again", () => {
    using scratch = createScratch();
    expect(wasRemoved(scratch.dir, one)).toBe(false);
    markRemoved(scratch.dir, one);
    markRemoved(scratch.dir, one);
    expect([wasRemoved(scratch.dir, one), wasRemoved(scratch.dir, other)]).toEqual([true, false]);
    unmarkRemoved(scratch.dir, one);
    unmarkRemoved(scratch.dir, one);
    expect(wasRemoved(scratch.dir, one)).toBe(false);
  });

  it("is deleted after an hour", () => {
    using scratch = createScratch();
    markRemoved(scratch.dir, one);
    utimesSync(scratch.path("removed", "0af:net1"), 1_000, 1_000);
    markRemoved(scratch.dir, other);
    expect(readdirSync(scratch.path("removed"))).toEqual(["0af:net2"]);
  });

  it("is skipped if /run cannot be written", () => {
    expect(() => {
      markRemoved("/proc/nowhere", one);
    }).not.toThrow();
    expect(wasRemoved("/proc/nowhere", one)).toBe(false);
  });
});
