// SPDX-License-Identifier: Apache-2.0
/**
 * A fingerprint is equal for PFs that a change treats alike, although their VFs differ one by one: pods hold some VFs,
 * and different ones on each node. Where a range of VFs gets the same configuration, only the number of VFs in each state
 * matters.
 */
import type { InterfaceStatus, VfStatus } from "@switchyard/api";
import type { VfIds } from "./changed-pfs.ts";

/**
 * PFs with equal fingerprints differ at most in which VFs of a range are in which state. The converse holds for PFs that
 * are compared between two resets of the memory. PFs must not change.
 */
export type PfFingerprint = (pf: InterfaceStatus, ranges: readonly VfIds[]) => string;

/**
 * Returns a function that computes fingerprints and remembers the parts of PFs that it has read. It numbers the distinct
 * texts of PFs and VFs, and forgets all of them when there are more than `maxTexts`. Numbers are never used twice, so a
 * reset costs time but cannot make two different PFs equal.
 */
export function createPfFingerprints(maxTexts = defaultMaxTexts): PfFingerprint {
  let lastNumber = 0;
  let memory = emptyMemory();

  function numberOf(text: string): number {
    const known = memory.numbers.get(text);
    if (known !== undefined) return known;
    if (memory.numbers.size >= maxTexts) memory = emptyMemory();
    lastNumber += 1;
    memory.numbers.set(text, lastNumber);
    return lastNumber;
  }

  function vfState(vf: VfStatus): number {
    const known = memory.vfStates.get(vf);
    if (known !== undefined) return known;
    const { vfID: _id, pciAddress: _address, ...state } = vf;
    const number = numberOf(JSON.stringify(state));
    memory.vfStates.set(vf, number);
    return number;
  }

  function summaryOf(pf: InterfaceStatus): PfSummary {
    const known = memory.summaries.get(pf);
    if (known !== undefined) return known;
    const { Vfs = [], ...own } = pf;
    const byId = new Map(Vfs.map((vf) => [vf.vfID, vfState(vf)]));
    const size = Math.max(0, ...[...byId.keys()].map((id) => id + 1));
    const all = Array.from({ length: size }, (_, id) => ({ id, state: byId.get(id) ?? missingVf }));
    const common = mostFrequent(all.map(({ state }) => state));
    const summary = {
      common: [numberOf(JSON.stringify(own)), size, common].join(" "),
      others: all.filter(({ state }) => state !== common).sort((a, b) => a.state - b.state),
    };
    memory.summaries.set(pf, summary);
    return summary;
  }

  return (pf, ranges) => {
    const { common, others } = summaryOf(pf);
    let fingerprint = common;
    for (const { first, last } of others.length === 0 ? [] : ranges) {
      fingerprint += "|";
      for (const { id, state } of others) if (first <= id && id <= last) fingerprint += `${state} `;
    }
    return fingerprint;
  };
}

/** A PF as numbers; equal parts have equal numbers. */
interface PfSummary {
  /** The PF itself, how many VF ids it has, and the state in which most of its VFs are. */
  readonly common: string;
  /** The VFs in other states, sorted by state. */
  readonly others: readonly { readonly id: number; readonly state: number }[];
}

interface Memory {
  readonly numbers: Map<string, number>;
  /** VF rows are shared by the PFs of a fleet (node-for-review.ts), so each row is read once. */
  readonly vfStates: WeakMap<VfStatus, number>;
  readonly summaries: WeakMap<InterfaceStatus, PfSummary>;
}

/** A fleet of equal nodes has some dozens; 1,000 nodes with 8 PFs that all differ have 8,000. A text has some 300 bytes. */
const defaultMaxTexts = 20_000;

/** The state of a VF id without a row. */
const missingVf = 0;

function emptyMemory(): Memory {
  return { numbers: new Map(), vfStates: new WeakMap(), summaries: new WeakMap() };
}

function mostFrequent(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [first = missingVf] = [...counts].sort(([a, m], [b, n]) => n - m || a - b).map(([value]) => value);
  return first;
}
