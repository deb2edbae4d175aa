// SPDX-License-Identifier: Apache-2.0
/**
 * The PCI addresses of a node's PFs and VFs in a few numbers, as caches keep them: VFs of a PF are in equal steps (PCI
 * Express, VF Stride), and the rows of a fleet's VFs would be 100 MB.
 * Usage: `pfOf("0000:3b:02.1", toPfAddresses(status.interfaces))` is "0000:3b:00.0".
 */
import { parsePciAddress, type InterfaceStatus, type PciAddress } from "@switchyard/api";

export interface PfAddresses {
  /** PCI address of the PF. */
  readonly pf: string;
  /** The same as a number; absent where it is none. */
  readonly own?: number;
  /** Those of its VFs; empty where it has none. */
  readonly vfs: readonly AddressRun[];
}

/** Addresses as numbers, in equal steps. */
export interface AddressRun {
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

export function toPfAddresses(interfaces: readonly InterfaceStatus[] = []): readonly PfAddresses[] {
  return interfaces.map(({ pciAddress, Vfs = [] }) => {
    const own = numberOf(pciAddress);
    const vfs = toRuns(Vfs.flatMap((vf) => numberOf(vf.pciAddress) ?? []));
    return { pf: pciAddress, ...(own === undefined ? {} : { own }), vfs };
  });
}

/** The PF that has the address, or whose VF has it. */
export function pfOf(address: PciAddress, pfs: readonly PfAddresses[]): string | undefined {
  const number = numberOf(address);
  return pfs.find(({ own, vfs }) => own === number || vfs.some((run) => isIn(run, number)))?.pf;
}

function toRuns(numbers: readonly number[]): readonly AddressRun[] {
  const runs: AddressRun[] = [];
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const last = runs.at(-1);
    const step = last === undefined || last.count > 1 ? last?.step : number - last.first;
    const isNext = last !== undefined && step !== undefined && number === last.first + step * last.count;
    if (isNext) runs[runs.length - 1] = { first: last.first, step, count: last.count + 1 };
    else runs.push({ first: number, step: 0, count: 1 });
  }
  return runs;
}

function isIn({ first, step, count }: AddressRun, number = Number.NaN): boolean {
  const distance = number - first;
  if (step === 0) return distance === 0;
  return distance >= 0 && distance % step === 0 && distance / step < count;
}

/** Domain, bus (8 bits), device (5) and function (3) in one; undefined for what is no address. */
function numberOf(text: string): number | undefined {
  const address = parsePciAddress(text);
  if (!address.ok) return undefined;
  const [domain = 0, bus = 0, device = 0, fn = 0] = address.value
    .split(/[:.]/)
    .map((part) => Number.parseInt(part, 16));
  return ((domain * 256 + bus) * 32 + device) * 8 + fn;
}
