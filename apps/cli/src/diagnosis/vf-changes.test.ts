// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { vfChanges, type VfRow } from "./list-vfs.ts";

const row = (vf: number, more: Partial<VfRow> = {}): VfRow => ({
  node: "worker-1",
  pfAddress: "0000:3b:00.0",
  vf,
  address: `0000:3b:02.${vf}`,
  ...more,
});

describe("vfChanges", () => {
  it("has new, changed and deleted VFs, and none that stay as they are", () => {
    const changed = row(1, { pod: "apps/client" });
    expect(vfChanges([row(0), row(1), row(3)], [row(0), changed, row(2)])).toEqual([
      { type: "MODIFIED", vf: changed },
      { type: "ADDED", vf: row(2) },
      { type: "DELETED", vf: row(3) },
    ]);
  });

  it("tells VFs of different nodes and PFs apart", () => {
    const other = row(0, { pfAddress: "0000:3b:00.1" });
    expect(vfChanges([row(0)], [row(0), other])).toEqual([{ type: "ADDED", vf: other }]);
  });
});
