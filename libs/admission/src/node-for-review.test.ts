// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceStatus } from "@switchyard/api";
import { ownedInStatus, plan } from "@switchyard/plan";
import fc from "fast-check";
import { createStateReader } from "./node-for-review.ts";
import { pf, vfs } from "./testing/objects.ts";

describe("createStateReader", () => {
  it("returns the same objects for nodes that differ only in addresses", () => {
    const read = createStateReader();
    const one = read({ status: { interfaces: [pf({ numVfs: 8, Vfs: vfs(8) })] } });
    const moved = pf({ mac: "02:00:00:00:00:99", numVfs: 8, Vfs: vfs(8, { mac: "02:ff:00:00:00:00" }) });
    const two = read({ status: { interfaces: [moved] } });
    expect(two.status).toBe(one.status);
    expect(two.layout).toBe(one.layout);
    const three = read({ status: { interfaces: [pf({ numVfs: 7, Vfs: vfs(7) })] } });
    expect(three.status).not.toBe(one.status);
    expect(three.layout).toBe(one.layout);
  });

  it("keeps everything that plan() needs", () => {
    const vf = fc.record(
      {
        name: fc.constantFrom("ens1f0v0", ""),
        driver: fc.constantFrom("iavf", "vfio-pci", ""),
        adminMac: fc.constantFrom("02:00:00:00:00:01", "00:00:00:00:00:00"),
        mtu: fc.constantFrom(1500, 9000),
      },
      { requiredKeys: [] },
    );
    const anyPf = fc
      .record({ seen: fc.array(vf, { maxLength: 4 }), owned: fc.boolean(), mtu: fc.constantFrom(1500, 9000) })
      .map(({ seen, owned, mtu }): InterfaceStatus => {
        const Vfs = seen.map((one, vfID) => ({ ...one, pciAddress: `0000:3b:02.${vfID}`, vfID }));
        return pf({ owned, mtu, numVfs: Vfs.length, Vfs });
      });
    const group = { vfRange: "0-1", resourceName: "fast" };
    const wanted = fc.record({
      pciAddress: fc.constant("0000:3b:00.0"),
      numVfs: fc.nat(4),
      mtu: fc.constantFrom(0, 1500, 9000),
      vfGroups: fc.constantFrom(
        [],
        [group],
        [{ ...group, mtu: 9000, isRdma: true }],
        [{ ...group, deviceType: "vfio-pci" as const }],
      ),
    });
    const read = createStateReader();
    const anySpec = fc.record({
      interfaces: fc.array(wanted, { maxLength: 1 }),
      unselected: fc.subarray(["0000:3b:00.0"]),
    });
    const property = fc.property(anyPf, anySpec, (found, spec) => {
      const full = { interfaces: [found] };
      const { status } = read({ status: full });
      expect(plan(spec, status, ownedInStatus(status))).toEqual(plan(spec, full, ownedInStatus(full)));
    });
    fc.assert(property);
  });
});
