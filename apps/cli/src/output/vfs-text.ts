// SPDX-License-Identifier: Apache-2.0
/** vfsText prints VFs as a table, as kubectl does. */
import type { VfChange, VfRow } from "../diagnosis/list-vfs.ts";
import { printable, table } from "../text.ts";

interface Column {
  readonly head: string;
  readonly isWide?: true;
  /** Whether a table that is not wide has the column, too, if one of its VFs has a value. */
  readonly isShownIfAny?: true;
  readonly value: (row: VfRow) => string | number | undefined;
}

const columns: readonly Column[] = [
  { head: "NODE", value: ({ node }) => node },
  { head: "PF", value: ({ pf, pfAddress }) => pf ?? pfAddress },
  { head: "PF ADDRESS", isWide: true, value: ({ pfAddress }) => pfAddress },
  { head: "LINK", isWide: true, value: ({ link }) => link },
  { head: "VF", value: ({ vf }) => vf },
  { head: "ADDRESS", value: ({ address }) => address },
  { head: "DRIVER", value: ({ driver }) => driver },
  { head: "INTERFACE", isWide: true, value: ({ name }) => name },
  { head: "MAC", value: ({ mac }) => mac },
  { head: "VLAN", value: ({ vlan }) => vlan },
  { head: "MTU", isWide: true, value: ({ mtu }) => mtu },
  { head: "REPRESENTOR", isWide: true, value: ({ representor }) => representor },
  { head: "VDPA", isWide: true, value: ({ vdpa }) => vdpa },
  { head: "POLICY", isWide: true, value: ({ policy }) => policy },
  { head: "RESOURCE", value: ({ resource }) => resource },
  { head: "CLAIM", isWide: true, isShownIfAny: true, value: ({ claim }) => claim },
  { head: "POD", value: podText },
];

/** Without VFs, the text says so. */
export function vfsText(rows: readonly VfRow[], { isWide }: { readonly isWide: boolean }): string {
  if (rows.length === 0) return "No VFs found.\n";
  const shown = columnsOf(isWide, rows);
  return table([shown.map(({ head }) => head), ...rows.map((row) => cellsOf(row, shown))]);
}

/** A table of changes. All tables of a watch have the same heads, so only the first one has them. */
export function vfChangesText(
  changes: readonly VfChange[],
  { isWide, isFirst }: { readonly isWide: boolean; readonly isFirst: boolean },
): string {
  const shown = columnsOf(isWide);
  const heads = isFirst ? [["EVENT", ...shown.map(({ head }) => head)]] : [];
  return table([...heads, ...changes.map(({ type, vf }) => [type.padEnd(8), ...cellsOf(vf, shown)])]);
}

/** All tables of a watch have the same columns, so those that depend on the VFs are in its wide form only. */
function columnsOf(isWide: boolean, rows: readonly VfRow[] = []): readonly Column[] {
  const isUsed = ({ isShownIfAny, value }: Column) =>
    isShownIfAny === true && rows.some((row) => value(row) !== undefined);
  return columns.filter((column) => isWide || column.isWide !== true || isUsed(column));
}

function cellsOf(row: VfRow, shown: readonly Column[]): readonly string[] {
  return shown.map(({ value }) => printable(String(value(row) ?? "-")));
}

/** A question mark means that the pod has some VF of the resource, and it is not known which one. */
function podText({ pod, possiblePods = [] }: VfRow): string | undefined {
  const [first, ...others] = possiblePods;
  if (pod !== undefined || first === undefined) return pod;
  return others.length === 0 ? `${first}?` : `${first}? (or ${others.length} more)`;
}
