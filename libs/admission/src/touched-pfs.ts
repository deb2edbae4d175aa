// SPDX-License-Identifier: Apache-2.0
/**
 * Which PFs a node's new spec treats otherwise than the old one, and what of them is worth looking at.
 * Usage: `touchedPfs(before.spec, after.spec).get("0000:3b:00.0")?.ranges`.
 */
import type { InterfaceSpec, SriovNetworkNodeStateSpec, VfGroup } from "@switchyard/api";
import { parseVfRange } from "@switchyard/policy";

export interface TouchedPf {
  /**
   * What was wanted of it; undefined where nothing was. Without the groups of VFs that stay as they are, if the PF itself
   * does too.
   */
  readonly before: InterfaceSpec | undefined;
  /** What shall be, in the same way. */
  readonly after: InterfaceSpec | undefined;
  /** The VFs that it is about. Within a range, the same is wanted of all of them, before and after. */
  readonly ranges: readonly VfIds[];
}

/** VF ids from the first to the last. */
export interface VfIds {
  readonly first: number;
  readonly last: number;
}

/** By PCI address; a PF whose bridge differs is one of them. */
export function touchedPfs(
  before: SriovNetworkNodeStateSpec,
  after: SriovNetworkNodeStateSpec,
): ReadonlyMap<string, TouchedPf> {
  const [old, next] = [wishesByPf(before), wishesByPf(after)];
  const touched = new Map<string, TouchedPf>();
  for (const pciAddress of new Set([...next.keys(), ...old.keys()])) {
    const [was, shall] = [old.get(pciAddress) ?? noWish, next.get(pciAddress) ?? noWish];
    if (was.all !== shall.all)
      touched.set(pciAddress, was.pf === shall.pf ? groupsAlone(was, shall) : whole(was, shall));
  }
  return touched;
}

/** All that is wanted of a PF. */
interface Wish {
  readonly spec: InterfaceSpec | undefined;
  /** As text: what is wanted of the PF and of the bridge that it is in. */
  readonly pf: string;
  /** The same, and of its VFs. */
  readonly all: string;
}

const noWish: Wish = { spec: undefined, pf: "", all: "" };

function wishesByPf({ interfaces = [], bridges = {} }: SriovNetworkNodeStateSpec): ReadonlyMap<string, Wish> {
  const wishes = new Map<string, Wish>();
  for (const spec of interfaces) {
    const { vfGroups: _, ...pf } = spec;
    wishes.set(spec.pciAddress, { spec, pf: JSON.stringify(pf), all: JSON.stringify(spec) });
  }
  for (const bridge of [...(bridges.ovs ?? []), ...(bridges.linux ?? [])]) {
    for (const { pciAddress } of bridge.uplinks ?? []) {
      const { spec, pf, all } = wishes.get(pciAddress) ?? noWish;
      const text = JSON.stringify(bridge);
      wishes.set(pciAddress, { spec, pf: pf + text, all: all + text });
    }
  }
  return wishes;
}

/** The PF stays: what becomes of a VF depends on its group alone, so groups that stay are left out on both sides. */
function groupsAlone(was: Wish, shall: Wish): TouchedPf {
  const [old, next] = [textsOf(was.spec), textsOf(shall.spec)];
  const before = was.spec && {
    ...was.spec,
    vfGroups: groupsOf(was.spec).filter((_, at) => !next.includes(old[at] ?? "")),
  };
  const after = shall.spec && {
    ...shall.spec,
    vfGroups: groupsOf(shall.spec).filter((_, at) => !old.includes(next[at] ?? "")),
  };
  const groups = rangesOf(before, after);
  const ranges = cutBy(groups).filter(({ first, last }) =>
    groups.some((group) => group.first <= first && last <= group.last),
  );
  return { before, after, ranges };
}

function whole({ spec: before }: Wish, { spec: after }: Wish): TouchedPf {
  return { before, after, ranges: cutBy(rangesOf(before, after)) };
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

function textsOf(spec: InterfaceSpec | undefined): readonly string[] {
  return groupsOf(spec).map((group) => JSON.stringify(group));
}

/** All VF ids, cut where a group begins or ends. TotalVFs has 16 bits. */
function cutBy(groups: readonly VfIds[]): readonly VfIds[] {
  const cuts = [...new Set([0, ...groups.flatMap(({ first, last }) => [first, last + 1])])].sort((a, b) => a - b);
  return cuts.map((first, at) => ({ first, last: (cuts[at + 1] ?? 65_536) - 1 }));
}
