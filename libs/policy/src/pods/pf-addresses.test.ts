// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parsePciAddress, type PciAddress } from "@switchyard/api";
import fc from "fast-check";
import { pfOf, toPfAddresses } from "./pf-addresses.ts";

function pci(text: string): PciAddress {
  const address = parsePciAddress(text);
  if (!address.ok) throw new Error(text);
  return address.value;
}

const vf = (pciAddress: string, vfID: number) => ({ pciAddress, vfID });

describe("pfOf", () => {
  // As with igb: the addresses of the two ports' VFs alternate.
  const pfs = toPfAddresses([
    { pciAddress: "0000:01:00.0", Vfs: ["0000:01:10.0", "0000:01:10.4", "0000:01:11.0"].map(vf) },
    { pciAddress: "0000:01:00.1", Vfs: ["0000:01:10.1", "0000:01:10.5", "0000:01:11.1"].map(vf) },
    { pciAddress: "10000:02:00.0" },
  ]);

  it.each([
    { address: "0000:01:00.0", pf: "0000:01:00.0" },
    { address: "0000:01:10.4", pf: "0000:01:00.0" },
    { address: "0000:01:10.5", pf: "0000:01:00.1" },
    { address: "10000:02:00.0", pf: "10000:02:00.0" },
    { address: "0000:02:00.0", pf: undefined }, // another domain
    { address: "0000:01:10.2", pf: undefined }, // between two VFs
    { address: "0000:01:11.4", pf: undefined }, // the next VF, which does not exist
    { address: "0000:01:0f.4", pf: undefined },
  ])("of $address is $pf", ({ address, pf }) => {
    expect(pfOf(pci(address), pfs)).toBe(pf);
  });

  it("stores the VFs of a PF as one run", () => {
    expect(pfs.map(({ vfs }) => vfs.map(({ step, count }) => [step, count]))).toEqual([[[4, 3]], [[4, 3]], []]);
  });

  it("finds the given addresses and no others, for any order and distance", () => {
    const address = fc
      .tuple(fc.nat(2), fc.nat(31), fc.nat(7))
      .map(([bus, device, fn]) => pci(`0000:0${bus}:${device.toString(16).padStart(2, "0")}.${fn}`));
    const property = fc.property(fc.array(address, { maxLength: 40 }), address, (vfs, other) => {
      const known = toPfAddresses([{ pciAddress: "0000:ff:00.0", Vfs: vfs.map(vf) }]);
      for (const each of vfs) expect(pfOf(each, known)).toBe("0000:ff:00.0");
      expect(pfOf(other, known) !== undefined).toBe(vfs.includes(other));
    });
    fc.assert(property);
  });

  it("ignores malformed addresses", () => {
    expect(toPfAddresses([{ pciAddress: "", Vfs: [vf("", 0)] }])).toEqual([{ pf: "", vfs: [] }]);
    expect(toPfAddresses()).toEqual([]);
  });
});
