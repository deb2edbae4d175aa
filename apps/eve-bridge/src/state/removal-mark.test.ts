// SPDX-License-Identifier: Apache-2.0
import { readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
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
    markRemoved(scratch.dir, other, Number.MAX_SAFE_INTEGER);
    expect(readdirSync(scratch.path("removed"))).toEqual(["0af:net2"]);
  });

  it("is kept when the date jumps, and an hour longer if nobody knows when it was made", () => {
    using scratch = createScratch();
    const file = scratch.path("removed", "0af:net1");
    markRemoved(scratch.dir, one, 1_000);
    utimesSync(file, 1_000, 1_000);
    markRemoved(scratch.dir, other, 2_000);
    expect(readdirSync(scratch.path("removed"))).toEqual(["0af:net1", "0af:net2"]);
    for (const text of ["", "{", "99999999"]) {
      writeFileSync(file, text);
      markRemoved(scratch.dir, other, 3_000);
      expect(readFileSync(file, "latin1")).toBe("3000");
    }
  });

  it("is skipped if /run cannot be written", () => {
    expect(() => {
      markRemoved("/proc/nowhere", one);
    }).not.toThrow();
    expect(wasRemoved("/proc/nowhere", one)).toBe(false);
  });
});
