// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { i40e, ice, igb, mlx5, pci, plainNic, vfAddress, virtioWithVfs, type FakeNic } from "./nic-models.ts";

describe("the NICs", () => {
  const nics: readonly { nic: FakeNic; names: readonly string[]; vfs: number }[] = [
    { nic: igb("0000:01:00.0"), names: ["enp1s0f0", "enp1s0f1"], vfs: 14 },
    { nic: i40e("0000:3b:00.0"), names: ["enp59s0f0", "enp59s0f1"], vfs: 128 },
    { nic: ice("0000:3b:00.0", { ports: 1 }), names: ["enp59s0"], vfs: 256 },
    { nic: mlx5("0000:d8:00.0"), names: ["enp216s0f0np0", "enp216s0f1np1"], vfs: 32 },
    { nic: plainNic("0000:00:03.0"), names: ["enp0s3"], vfs: 0 },
    { nic: virtioWithVfs("0000:02:00.0"), names: ["enp2s0"], vfs: 2 },
  ];

  it.each(nics)("are named by slot, and each VF has its own address: $names", ({ nic, names, vfs }) => {
    expect(nic.ports.map(({ name }) => name)).toEqual(names);
    const addresses = nic.ports.flatMap(({ pciAddress, sriov }) =>
      sriov === undefined
        ? []
        : Array.from({ length: sriov.totalVfs }, (_, vfId) => vfAddress(pciAddress, sriov, vfId)),
    );
    const all = [...addresses, ...nic.ports.map(({ pciAddress }) => pciAddress)];
    expect(new Set(all).size).toBe(vfs + names.length);
  });

  it("place VFs on the next bus after the last function of a bus", () => {
    const offsets = { offset: 128, stride: 2 };
    expect(vfAddress(pci("0000:01:00.1"), offsets, 0)).toBe("0000:01:10.1"); // as in the capture of igb
    expect(vfAddress(pci("0000:01:00.0"), offsets, 64)).toBe("0000:02:00.0");
  });
});
