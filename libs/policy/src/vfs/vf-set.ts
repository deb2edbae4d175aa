// SPDX-License-Identifier: Apache-2.0
/**
 * VfSet names VFs of a node by their PFs. The config daemon writes it to annotations.drainVfs, with the VFs whose pods must leave: the
 * operator evicts these pods, and device-plugin-config does not offer these VFs.
 * Usage: `formatVfSet(new Map([["0000:3b:00.0", new Set([2, 3, 7])]]))` is "0000:3b:00.0#2-3,0000:3b:00.0#7-7".
 */
import { annotations, parsePciAddress, type ObjectMeta } from "@switchyard/api";
import { countVfsIn, parseVfRange } from "./vf-range.ts";

/** For the PCI address of a PF, the indexes of its VFs, or "all". */
export type VfSet = ReadonlyMap<string, ReadonlySet<number> | "all">;

/** Lists PFs and ranges of their VFs, sorted: "0000:3b:00.0" are all VFs of the PF, "0000:3b:00.0#2-5" four of them. */
export function formatVfSet(set: VfSet): string {
  return [...set]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([pf, vfs]) => (vfs === "all" ? [pf] : rangesOf(vfs).map((range) => `${pf}#${range}`)))
    .join(",");
}

/** Returns undefined if the text is not such a list, is empty, or names more VFs than a node can have. */
export function parseVfSet(text: string): VfSet | undefined {
  if (text.length > longestText) return undefined;
  const set = new Map<string, Set<number> | "all">();
  let named = 0;
  for (const part of text.split(",")) {
    const [pf = "", ranges, ...more] = part.split("#");
    if (!parsePciAddress(pf).ok || more.length > 0) return undefined;
    if (ranges === undefined) {
      set.set(pf, "all");
      continue;
    }
    const range = parseVfRange(ranges);
    if (!range.ok) return undefined;
    named += countVfsIn(range.value);
    if (named > mostVfs) return undefined;
    const known = set.get(pf) ?? new Set<number>();
    if (known === "all") continue;
    for (let vf = range.value.first; vf <= range.value.last; vf++) known.add(vf);
    set.set(pf, known);
  }
  return set;
}

/** Returns the VFs in annotations.drainVfs of a node state; undefined if it has none, or no valid ones. */
export function drainedVfs({ metadata }: { readonly metadata: ObjectMeta }): VfSet | undefined {
  const text = metadata.annotations?.[annotations.drainVfs];
  return text === undefined ? undefined : parseVfSet(text);
}

export function hasVf(set: VfSet, pf: string, vf: number): boolean {
  const vfs = set.get(pf);
  return vfs === "all" || vfs?.has(vf) === true;
}

/** Reports whether `set` has all VFs of `other`. */
export function coversVfs(set: VfSet, other: VfSet): boolean {
  return [...other].every(([pf, vfs]) => {
    const own = set.get(pf);
    if (own === "all" || own === undefined || vfs === "all") return own === "all";
    return [...vfs].every((vf) => own.has(vf));
  });
}

/** Adds VFs of one PF to a set. */
export function addVfs(set: Map<string, ReadonlySet<number> | "all">, pf: string, vfs: Iterable<number> | "all"): void {
  const known = set.get(pf) ?? [];
  set.set(pf, vfs === "all" || known === "all" ? "all" : new Set([...known, ...vfs]));
}

/** All VFs of the largest nodes, each with a range of its own, are shorter. The API server limits annotations to 256 KiB. */
const longestText = 64 * 1024;

/** Nodes write the text, and a short one could name hundreds of millions. The largest nodes have some thousand VFs. */
const mostVfs = 65_536;

function rangesOf(vfs: ReadonlySet<number>): readonly string[] {
  const ranges: { first: number; last: number }[] = [];
  for (const vf of [...vfs].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && vf === last.last + 1) last.last = vf;
    else ranges.push({ first: vf, last: vf });
  }
  return ranges.map(({ first, last }) => `${first}-${last}`);
}
