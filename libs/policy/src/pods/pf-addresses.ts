// SPDX-License-Identifier: Apache-2.0
/**
 * PfAddresses stores the PCI addresses of a PF and its VFs in a few numbers, for use in caches. The addresses of a PF's
 * VFs have a constant distance (PCI Express, VF Stride). A list of all VFs of a large cluster would take 100 MB.
 * Usage: `pfOf(address, toPfAddresses(status.interfaces))` is "0000:3b:00.0" for the address of its first VF.
 */
import { defined, parsePciAddress, type InterfaceStatus, type PciAddress } from "@switchyard/api";

/** The addresses of a PF and its VFs. */
export interface PfAddresses {
  /** PCI address of the PF. */
  readonly pf: string;
  /** PCI address of the PF as a number; absent if it is malformed. */
  readonly own?: number;
  /** Addresses of its VFs; empty if it has none. */
  readonly vfs: readonly AddressRun[];
}

/** Addresses as numbers with a constant distance. */
interface AddressRun {
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

/** Converts the PFs of a node's status. Malformed addresses of VFs are omitted. */
export function toPfAddresses(interfaces: readonly InterfaceStatus[] = []): readonly PfAddresses[] {
  return interfaces.map(({ pciAddress, Vfs = [] }) => {
    const own = numberOf(pciAddress);
    const vfs = toRuns(Vfs.flatMap((vf) => numberOf(vf.pciAddress) ?? []));
    return { pf: pciAddress, ...defined({ own }), vfs };
  });
}

/**
 * Returns the PCI address of the PF that has the address itself or through one of its VFs; undefined if there is none.
 */
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

/**
 * Returns domain, bus (8 bits), device (5 bits) and function (3 bits) as one number; undefined if `text` is malformed.
 */
function numberOf(text: string): number | undefined {
  const address = parsePciAddress(text);
  if (!address.ok) return undefined;
  const [domain = 0, bus = 0, device = 0, fn = 0] = address.value
    .split(/[:.]/)
    .map((part) => Number.parseInt(part, 16));
  return ((domain * 256 + bus) * 32 + device) * 8 + fn;
}
