// SPDX-License-Identifier: Apache-2.0
/** Accidents of objects, kinds, rights and backups. */
import { describe, expect, it } from "@jest/globals";
import { accidents } from "./accidents.ts";
import { missing } from "./checker.ts";
import { playAccidents } from "./play-accidents.ts";

playAccidents(accidents);

describe("the checker", () => {
  it("names what is wrong in an empty cluster", () => {
    const found = missing([], { numVfs: 4 });
    expect(found).toContain("worker-1 has no node state");
    expect(found).toContain("policy fast is not Ready");
  });
});
