// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, InterfaceStatus } from "@switchyard/api";
import { ownedInStatus, plan } from "@switchyard/plan";
import { countEqualMacs, countVfs } from "./daemon-metrics.ts";

const pciAddress = "0000:01:00.0";
const other = "0000:01:00.1";

function pf(vfs: readonly Partial<NonNullable<InterfaceStatus["Vfs"]>[number]>[], address = pciAddress) {
  const Vfs = vfs.map((vf, vfID) => {
    return { vfID, pciAddress: `0000:01:10.${vfID}`, name: `v${vfID}`, driver: "igbvf", adminMac: "02:00", ...vf };
  });
  return {
    pciAddress: address,
    name: "ens1",
    linkType: "ETH",
    linkAdminState: "up",
    totalvfs: 7,
    mtu: 1500,
    eSwitchMode: "legacy",
    owned: true,
    numVfs: vfs.length,
    Vfs,
  };
}

/** Wanted, existing and configured. */
function counts(specs: readonly Partial<InterfaceSpec>[], interfaces: readonly InterfaceStatus[]) {
  const spec = {
    interfaces: specs.map((each) => ({ pciAddress, numVfs: 2, vfGroups: [{ vfRange: "0-1" }], ...each })),
  };
  const status = { interfaces };
  return Object.values(countVfs(spec, interfaces, plan(spec, status, ownedInStatus(status)).steps));
}

describe("countVfs", () => {
  it("counts VFs that match the spec as configured", () => {
    expect(counts([{}], [pf([{}, {}])])).toEqual([2, 2, 2]);
  });

  it("does not count VFs with remaining steps as configured", () => {
    const vfGroups = [{ vfRange: "0-1", mtu: 9000 }];
    expect(counts([{ vfGroups }], [pf([{ mtu: 9000 }, { mtu: 1500 }])])).toEqual([2, 2, 1]);
    expect(counts([{}], [pf([{}, { driver: "vfio-pci" }])])).toEqual([2, 2, 1]);
  });

  it("does not count VFs that will be removed as configured", () => {
    expect(counts([{ numVfs: 4 }], [pf([{}, {}])])).toEqual([4, 2, 0]);
  });

  it("counts VFs outside of the spec as existing only", () => {
    expect(counts([{}], [pf([{}, {}]), { ...pf([{}], other), owned: false }])).toEqual([2, 3, 2]);
    expect(counts([{ externallyManaged: true }], [pf([{}, {}, {}])])).toEqual([2, 3, 2]);
    expect(counts([], [])).toEqual([0, 0, 0]);
  });
});

describe("countEqualMacs", () => {
  it("counts VFs of one PF with one assigned address", () => {
    const [first, second, none] = ["02:00:00:00:00:01", "02:00:00:00:00:02", "00:00:00:00:00:00"];
    const macs = (...adminMacs: readonly string[]) => pf(adminMacs.map((adminMac) => ({ adminMac })));
    expect(countEqualMacs([macs(first, second), { ...macs(first, second), pciAddress: other }])).toBe(0);
    expect(countEqualMacs([macs(first, second, first.toUpperCase(), none, none)])).toBe(2);
    expect(countEqualMacs([{ pciAddress }])).toBe(0);
  });
});
