// SPDX-License-Identifier: Apache-2.0
/**
 * vfChanges compares two lists of VFs.
 * Usage: `vfChanges(before, listVfs(snapshot))`.
 */
import type { VfRow } from "./list-vfs.ts";

export interface VfChange {
  /** As events of a watch are called. */
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** Of a deleted VF, its last row. */
  readonly vf: VfRow;
}

/** Changed and new VFs in the order of `after`, then deleted ones in the order of `before`. */
export function vfChanges(before: readonly VfRow[], after: readonly VfRow[]): readonly VfChange[] {
  const known = new Map(before.map((row) => [keyOf(row), row]));
  const kept = new Set(after.map(keyOf));
  return [
    ...after.flatMap((vf): readonly VfChange[] => {
      const old = known.get(keyOf(vf));
      if (old === undefined) return [{ type: "ADDED", vf }];
      return JSON.stringify(old) === JSON.stringify(vf) ? [] : [{ type: "MODIFIED", vf }];
    }),
    ...before.filter((row) => !kept.has(keyOf(row))).map((vf) => ({ type: "DELETED" as const, vf })),
  ];
}

function keyOf({ node, pfAddress, vf }: VfRow): string {
  return `${node}\n${pfAddress}\n${vf}`;
}
