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
  const { own, states } = digestOf(pf);
  const parts = [String(own)];
  for (const { first, last } of ranges) {
    const counts = new Map<number, number>();
    for (let id = first; id <= last && id < states.length; id++) {
      const state = states[id] ?? 0;
      counts.set(state, (counts.get(state) ?? 0) + 1);
    }
    parts.push([...counts].sort(([a], [b]) => a - b).join(" "));
  }
  return parts.join("|");
}

/** A PF in numbers; equal parts have equal numbers. */
interface Digest {
  /** All but its VFs. */
  readonly own: number;
  /** By VF id; 0 where there is none. */
  readonly states: Uint32Array;
}

const digests = new WeakMap<InterfaceStatus, Digest>();

function digestOf(pf: InterfaceStatus): Digest {
  const known = digests.get(pf);
  if (known !== undefined) return known;
  const { Vfs = [], ...own } = pf;
  const states = new Uint32Array(Vfs.reduce((most, { vfID }) => Math.max(most, vfID + 1), 0));
  for (const vf of Vfs) states[vf.vfID] = stateOf(vf);
  const digest = { own: numberOf(JSON.stringify(own)), states };
  digests.set(pf, digest);
  return digest;
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
