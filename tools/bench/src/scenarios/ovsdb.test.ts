// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { missedBy } from "../harness/testing.ts";
import { ovsdb } from "./ovsdb.ts";

const missed = (clientMs: readonly number[], dumpMs: readonly number[], changeMs: readonly number[]) =>
  missedBy(ovsdb, { clientMs, dumpMs, changeMs, versions: {}, cacheMb: 1 });

describe("the goals of ovsdb", () => {
  it("compare the best times and the median of the changes", () => {
    expect(missed([900, 140], [100, 400], [1, 2, 300])).toEqual([]);
    expect(missed([900, 160], [100, 400], [1, 12, 300])).toEqual([
      "all rows in the cache beside ovsdb-client dump: 1.6 x, goal 1.5 x",
      "arrival of a change, median: 12 ms, goal 10 ms",
    ]);
  });

  it("are missed by what was not measured", () => {
    expect(missed([100], [100], [])).toEqual(["arrival of a change, median: not measured, goal 10 ms"]);
  });
});
