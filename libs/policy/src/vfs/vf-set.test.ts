// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { addVfs, coversVfs, drainedVfs, formatVfSet, hasVf, parseVfSet, type VfSet } from "./vf-set.ts";

const pfs = ["0000:3b:00.0", "0000:3b:00.1", "10000:01:00.0"];
const anySet = fc
  .dictionary(
    fc.constantFrom(...pfs),
    fc.oneof(fc.constant("all" as const), fc.uniqueArray(fc.nat(300), { minLength: 1 })),
    { minKeys: 1 },
  )
  .map((byPf): VfSet => new Map(Object.entries(byPf).map(([pf, vfs]) => [pf, vfs === "all" ? vfs : new Set(vfs)])));

describe("a set of VFs", () => {
  it("is written as PFs and ranges", () => {
    const set: VfSet = new Map<string, ReadonlySet<number> | "all">([
      ["0000:5e:00.0", "all"],
      ["0000:3b:00.0", new Set([7, 2, 3])],
    ]);
    expect(formatVfSet(set)).toBe("0000:3b:00.0#2-3,0000:3b:00.0#7-7,0000:5e:00.0");
  });

  it("is the same after it was written and read", () => {
    fc.assert(
      fc.property(anySet, (set) => {
        const read = parseVfSet(formatVfSet(set));
        expect(read && [...read].sort()).toEqual([...set].sort());
      }),
    );
  });

  it("covers another one exactly if it has all of its VFs", () => {
    fc.assert(
      fc.property(anySet, anySet, (set, other) => {
        const vfs = pfs.flatMap((pf) => Array.from({ length: 400 }, (_, vf) => [pf, vf] as const));
        const hasAll = vfs.every(([pf, vf]) => !hasVf(other, pf, vf) || hasVf(set, pf, vf));
        // No PF of this test has more than 300 VFs, but a list of VFs does not say that these are all.
        expect(coversVfs(set, other)).toBe(hasAll);
      }),
    );
  });

  it("grows by VFs of a PF", () => {
    const set = new Map<string, ReadonlySet<number> | "all">();
    addVfs(set, "0000:3b:00.0", [1]);
    addVfs(set, "0000:3b:00.0", [3]);
    addVfs(set, "0000:5e:00.0", [1]);
    addVfs(set, "0000:5e:00.0", "all");
    addVfs(set, "0000:5e:00.0", [2]);
    expect(formatVfSet(set)).toBe("0000:3b:00.0#1-1,0000:3b:00.0#3-3,0000:5e:00.0");
  });

  it.each([
    "",
    ",",
    "all",
    "0000:3b:00.0#",
    "0000:3b:00.0#5-2",
    "0000:3b:00.0#1-2#3-4",
    "0000:3b:00.0 ",
    "0000:3b:00.0,".repeat(10_000),
    "0000:3b:00.0#0-65535,0000:3b:00.1#0-0",
    Array.from({ length: 2_000 }, (_, pf) => `${pf.toString(16).padStart(4, "0")}:3b:00.0#0-65535`).join(),
  ])("is not read from other texts: %.20j", (text) => {
    expect(parseVfSet(text)).toBeUndefined();
    const annotations = { "switchyard.io/drain-vfs": text };
    expect(drainedVfs({ metadata: { name: "worker-1", annotations } })).toBeUndefined();
  });
});
