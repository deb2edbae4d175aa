// SPDX-License-Identifier: Apache-2.0
/**
 * pfViews describes the PFs of a node and their VFs: a drawing of bars, and a table in which consecutive VFs with equal
 * properties share a row.
 */
import type { InterfaceStatus } from "@switchyard/api";
import type { VfRow } from "../diagnosis/list-vfs.ts";
import { pageText, speedText } from "../text.ts";
import type { PfView, VfBar, VfRangeView, VfUse } from "./report.ts";

export interface Column {
  readonly head: string;
  readonly value: (row: VfRow) => string | number | undefined;
}

const policy: Column = { head: "Policy", value: (row) => row.policy };
const resource: Column = { head: "Resource", value: (row) => row.resource };
const driver: Column = { head: "Driver", value: (row) => row.driver };
const mtu: Column = { head: "MTU", value: (row) => row.mtu };
const pod: Column = { head: "Pod", value: podText };

/** What VFs with the same policy have in common, so that few rows describe a PF. */
export const mergedColumns: readonly Column[] = [resource, policy, driver, mtu, pod];

/** A row for each VF. */
export const allColumns: readonly Column[] = [
  { head: "Address", value: ({ address }) => address },
  { head: "MAC", value: ({ mac }) => mac },
  { head: "VLAN", value: ({ vlan }) => vlan },
  { head: "Representor", value: ({ representor }) => representor },
  ...mergedColumns,
];

/** VFs that a bar has at most: a row of the drawing on a narrow screen. */
const maxBar = 16;

/** `rows` are those of the node; PFs without rows are included if `isEmptyShown`. */
export function pfViews(
  interfaces: readonly InterfaceStatus[],
  rows: readonly VfRow[],
  { columns, isEmptyShown }: { readonly columns: readonly Column[]; readonly isEmptyShown: boolean },
): readonly PfView[] {
  const byPf = Map.groupBy(rows, ({ pfAddress }) => pfAddress);
  return interfaces
    .filter(({ pciAddress }) => isEmptyShown || byPf.has(pciAddress))
    .map((nic) => pfView(nic, byPf.get(nic.pciAddress) ?? [], columns));
}

function pfView(nic: InterfaceStatus, rows: readonly VfRow[], columns: readonly Column[]): PfView {
  const uses = rows.map(useOf);
  return {
    name: pageText(nic.name ?? nic.pciAddress),
    words: pageText(wordsOf(nic)),
    usage: usageOf(nic, uses),
    bars: barsOf(uses),
    rows: rangesOf(rows, columns),
  };
}

function wordsOf(nic: InterfaceStatus): string {
  const { pciAddress, driver: name, linkSpeed, mtu: size, eSwitchMode, linkAdminState, bridge } = nic;
  const words = [
    ...[pciAddress, name, speedText(linkSpeed), size === undefined ? undefined : `MTU ${size}`],
    ...[eSwitchMode, linkAdminState === undefined ? undefined : `link ${linkAdminState}`],
    bridge === undefined ? undefined : `port of bridge ${bridge}`,
    ...(nic.hostUse ?? []).map((use) => `used by the host: ${use}`),
    nic.externallyManaged === true ? "externally managed" : undefined,
  ];
  return words.filter((word) => word !== undefined && word !== "").join(", ");
}

function usageOf({ numVfs, totalvfs }: InterfaceStatus, uses: readonly VfUse[]): string {
  const inPods = uses.filter((use) => use === "pod").length;
  const total = totalvfs === undefined ? "" : ` of ${totalvfs}`;
  return `${numVfs ?? uses.length}${total} VFs${inPods === 0 ? "" : `, ${inPods} in pods`}`;
}

function useOf({ pod: holder, possiblePods = [], resource: name }: VfRow): VfUse {
  if (holder !== undefined) return "pod";
  if (possiblePods.length > 0) return "maybe";
  return name === undefined ? "plain" : "free";
}

function barsOf(uses: readonly VfUse[]): readonly VfBar[] {
  const bars: VfBar[] = [];
  for (const use of uses) {
    const last = bars.at(-1);
    if (last?.use === use && last.count < maxBar) bars[bars.length - 1] = { use, count: last.count + 1 };
    else bars.push({ use, count: 1 });
  }
  return bars;
}

function rangesOf(rows: readonly VfRow[], columns: readonly Column[]): readonly VfRangeView[] {
  const ranges: { first: number; last: number; use: VfUse; cells: readonly string[] }[] = [];
  for (const row of rows) {
    const cells = columns.map(({ value }) => pageText(String(value(row) ?? "-")));
    const use = useOf(row);
    const last = ranges.at(-1);
    const isSame = last?.last === row.vf - 1 && last.use === use && last.cells.every((cell, at) => cell === cells[at]);
    if (isSame) last.last = row.vf;
    else ranges.push({ first: row.vf, last: row.vf, use, cells });
  }
  return ranges.map(({ first, last, use, cells }) => {
    return { vfs: first === last ? `${first}` : `${first}–${last}`, use, cells };
  });
}

/** Without an exact source, the pods that have some VF of the resource. */
function podText({ pod: holder, possiblePods = [] }: VfRow): string | undefined {
  const [first, ...others] = possiblePods;
  if (holder !== undefined || first === undefined) return holder;
  return others.length === 0 ? `perhaps ${first}` : `perhaps ${first} or ${others.length} others`;
}
