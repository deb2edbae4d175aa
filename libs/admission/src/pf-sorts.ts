// SPDX-License-Identifier: Apache-2.0
/**
 * PFs that a change treats alike although their VFs are not the same ones: pods have some VFs, others on each node. Where
 * the same is wanted of a range of VFs, it is enough how many of them are in which state.
 * Usage: `sortOfPf(pf, touched.ranges) === sortOfPf(other, touched.ranges)`.
 */
import type { InterfaceStatus, VfStatus } from "@switchyard/api";
import type { VfIds } from "./touched-pfs.ts";

/** Equal for PFs that are alike but for which VFs of a range are in which state. PFs must not change. */
export function sortOfPf(pf: InterfaceStatus, ranges: readonly VfIds[]): string {
  const { alike, others } = digestOf(pf);
  let sort = alike;
  for (const { first, last } of others.length === 0 ? [] : ranges) {
    sort += "|";
    for (const { id, state } of others) if (first <= id && id <= last) sort += `${state} `;
  }
  return sort;
}

/** A PF in numbers; equal parts have equal numbers. */
interface Digest {
  /** The PF itself, how many VF ids it has, and the state in which most of its VFs are. */
  readonly alike: string;
  /** The VFs that are in other states, by state. */
  readonly others: readonly { readonly id: number; readonly state: number }[];
}

const digests = new WeakMap<InterfaceStatus, Digest>();

function digestOf(pf: InterfaceStatus): Digest {
  const known = digests.get(pf);
  if (known !== undefined) return known;
  const { Vfs = [], ...own } = pf;
  const byId = new Map(Vfs.map((vf) => [vf.vfID, stateOf(vf)]));
  const size = Math.max(0, ...[...byId.keys()].map((id) => id + 1));
  const all = Array.from({ length: size }, (_, id) => ({ id, state: byId.get(id) ?? 0 }));
  const common = mostFrequent(all.map(({ state }) => state));
  const digest = {
    alike: [numberOf(JSON.stringify(own)), size, common].join(" "),
    others: all.filter(({ state }) => state !== common).sort((a, b) => a.state - b.state),
  };
  digests.set(pf, digest);
  return digest;
}

function mostFrequent(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [first = 0] = [...counts].sort(([a, m], [b, n]) => n - m || a - b).map(([value]) => value);
  return first;
}

/** Rows are shared by the PFs of a fleet (node-facts.ts): each is read once. */
const states = new WeakMap<VfStatus, number>();

function stateOf(vf: VfStatus): number {
  const known = states.get(vf);
  if (known !== undefined) return known;
  const { vfID: _id, pciAddress: _address, ...state } = vf;
  const number = numberOf(JSON.stringify(state));
  states.set(vf, number);
  return number;
}

/** There are as many as there are sorts of cards and VFs in the cluster: not many, and not from users. */
const numbers = new Map<string, number>();

function numberOf(text: string): number {
  const number = numbers.get(text) ?? numbers.size + 1;
  numbers.set(text, number);
  return number;
}
