// SPDX-License-Identifier: Apache-2.0
/**
 * changedPfs compares two specs of a node and returns the PFs whose configuration differs, reduced to what differs.
 */
import type { InterfaceSpec, SriovNetworkNodeStateSpec, VfGroup } from "@switchyard/api";
import { includesVf, parseVfRange } from "@switchyard/policy";

export interface ChangedPf {
  /**
   * The PF's old configuration; undefined if it had none. If only VF groups differ, the groups that stay the same are left
   * out, here and in `after`.
   */
  readonly before: InterfaceSpec | undefined;
  /** The PF's new configuration. */
  readonly after: InterfaceSpec | undefined;
  /** The VFs that are concerned. All VFs of one range have the same configuration, before and after. */
  readonly ranges: readonly VfIds[];
}

/** VF ids from the first to the last, both included. */
export interface VfIds {
  readonly first: number;
  readonly last: number;
}

/** Keyed by PCI address. A PF whose bridge differs is included. */
export function changedPfs(
  before: SriovNetworkNodeStateSpec,
  after: SriovNetworkNodeStateSpec,
): ReadonlyMap<string, ChangedPf> {
  const [old, next] = [desiredByPf(before), desiredByPf(after)];
  const changed = new Map<string, ChangedPf>();
  for (const pciAddress of new Set([...next.keys(), ...old.keys()])) {
    const [was, willBe] = [old.get(pciAddress) ?? unconfigured, next.get(pciAddress) ?? unconfigured];
    if (was.allText !== willBe.allText)
      changed.set(pciAddress, was.pfText === willBe.pfText ? changedGroups(was, willBe) : wholePf(was, willBe));
  }
  return changed;
}

/** VFs that get another resource. */
export interface VfMove {
  readonly from: string;
  readonly to: string;
  readonly vfs: readonly VfIds[];
}

/** Returns the VFs that belong to a resource before and after the change, but not to the same one. */
export function movesOf({ before, after, ranges }: ChangedPf): readonly VfMove[] {
  const moved = ranges.flatMap((range) => {
    const [from, to] = [resourceAt(before, range.first), resourceAt(after, range.first)];
    return from === "" || to === "" || from === to ? [] : [{ from, to, range }];
  });
  const byNames = Map.groupBy(moved, ({ from, to }) => `${from} ${to}`);
  return [...byNames.values()].flatMap((same) => {
    const [first] = same;
    return first === undefined ? [] : [{ from: first.from, to: first.to, vfs: same.map(({ range }) => range) }];
  });
}

function resourceAt(spec: InterfaceSpec | undefined, vfId: number): string {
  const group = groupsOf(spec).find(({ vfRange = "" }) => {
    const range = parseVfRange(vfRange);
    return range.ok && includesVf(range.value, vfId);
  });
  return group?.resourceName ?? "";
}

/** The configuration of one PF. */
interface DesiredPf {
  readonly spec: InterfaceSpec | undefined;
  /** The PF without its VF groups, and the bridges that it is attached to, as JSON. */
  readonly pfText: string;
  /** The same with the VF groups. */
  readonly allText: string;
}

const unconfigured: DesiredPf = { spec: undefined, pfText: "", allText: "" };

function desiredByPf({ interfaces = [], bridges = {} }: SriovNetworkNodeStateSpec): ReadonlyMap<string, DesiredPf> {
  const byPf = new Map<string, DesiredPf>();
  for (const spec of interfaces) {
    const { vfGroups: _, ...pf } = spec;
    byPf.set(spec.pciAddress, { spec, pfText: JSON.stringify(pf), allText: JSON.stringify(spec) });
  }
  for (const bridge of [...(bridges.ovs ?? []), ...(bridges.linux ?? [])]) {
    for (const { pciAddress } of bridge.uplinks ?? []) {
      const { spec, pfText, allText } = byPf.get(pciAddress) ?? unconfigured;
      const text = JSON.stringify(bridge);
      byPf.set(pciAddress, { spec, pfText: pfText + text, allText: allText + text });
    }
  }
  return byPf;
}

/** For a PF that itself stays the same: a VF depends on its group alone, so groups that stay are left out on both sides. */
function changedGroups(was: DesiredPf, willBe: DesiredPf): ChangedPf {
  const [old, next] = [groupTexts(was.spec), groupTexts(willBe.spec)];
  const before = was.spec && {
    ...was.spec,
    vfGroups: groupsOf(was.spec).filter((_, at) => !next.includes(old[at] ?? "")),
  };
  const after = willBe.spec && {
    ...willBe.spec,
    vfGroups: groupsOf(willBe.spec).filter((_, at) => !old.includes(next[at] ?? "")),
  };
  const groupRanges = rangesOf(before, after);
  const ranges = splitAt(groupRanges).filter(({ first, last }) =>
    groupRanges.some((group) => group.first <= first && last <= group.last),
  );
  return { before, after, ranges };
}

function wholePf({ spec: before }: DesiredPf, { spec: after }: DesiredPf): ChangedPf {
  return { before, after, ranges: splitAt(rangesOf(before, after)) };
}

function rangesOf(...specs: readonly (InterfaceSpec | undefined)[]): readonly VfIds[] {
  return specs.flatMap(groupsOf).flatMap(({ vfRange = "" }) => {
    const range = parseVfRange(vfRange);
    return range.ok ? [range.value] : [];
  });
}

function groupsOf(spec: InterfaceSpec | undefined): readonly VfGroup[] {
  return spec?.vfGroups ?? [];
}

function groupTexts(spec: InterfaceSpec | undefined): readonly string[] {
  return groupsOf(spec).map((group) => JSON.stringify(group));
}

/** All VF ids, split where a range begins or ends. TotalVFs of the PCI capability has 16 bits. */
function splitAt(ranges: readonly VfIds[]): readonly VfIds[] {
  const starts = [...new Set([0, ...ranges.flatMap(({ first, last }) => [first, last + 1])])].sort((a, b) => a - b);
  return starts.map((first, at) => ({ first, last: (starts[at + 1] ?? 65_536) - 1 }));
}
