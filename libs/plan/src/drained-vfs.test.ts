// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceSpec, InterfaceStatus, SriovNetworkNodeStateSpec } from "@switchyard/api";
import { formatVfSet } from "@switchyard/policy";
import { vfsToDrain } from "./drained-vfs.ts";
import { ownedInStatus } from "./pf/owned-pf.ts";
import { plan } from "./plan.ts";

const [x, y, other] = ["0000:3b:00.0", "0000:3b:00.1", "0000:5e:00.0"] as const;

/** A PF with four VFs. */
function pf(pciAddress: string, more: Partial<InterfaceStatus> = {}): InterfaceStatus {
  const Vfs = [0, 1, 2, 3].map((vfID) => ({
    pciAddress: `${pciAddress.slice(0, -4)}${pciAddress.endsWith("1") ? "0a" : "02"}.${vfID}`,
    vfID,
    name: `v${vfID}`,
    driver: "iavf",
    adminMac: `02:00:00:00:00:0${vfID}`,
    mtu: 1500,
  }));
  const link = { mtu: 1500, maxMtu: 9216, linkType: "ETH", linkAdminState: "up", eSwitchMode: "legacy" };
  return { pciAddress, ...link, totalvfs: 8, numVfs: 4, owned: true, Vfs, ...more };
}

function spec(pciAddress: string, more: Partial<InterfaceSpec> = {}): InterfaceSpec {
  return { pciAddress, numVfs: 4, vfGroups: [{ resourceName: "r", vfRange: "0-3" }], ...more };
}

function drained(
  desired: SriovNetworkNodeStateSpec,
  interfaces: readonly InterfaceStatus[] = [pf(x), pf(y), pf(other)],
) {
  const observed = { interfaces };
  const next = plan(desired, observed, ownedInStatus(observed));
  const vfs = vfsToDrain(next, observed);
  return [next.impact, vfs && formatVfSet(vfs)];
}

const unchanged = [spec(y), spec(other)];

describe("the VFs that a plan takes from pods or interrupts", () => {
  it.each([
    { change: "another number of VFs", of: { numVfs: 6 }, vfs: x },
    { change: "another MTU", of: { mtu: 9000 }, vfs: x },
    {
      change: "another driver of two VFs",
      of: {
        vfGroups: [
          { resourceName: "r", vfRange: "0-1" },
          { resourceName: "dpdk", vfRange: "2-3", deviceType: "vfio-pci" as const },
        ],
      },
      vfs: `${x}#2-3`,
    },
  ])("are for $change: $vfs", ({ of, vfs }) => {
    expect(drained({ interfaces: [spec(x, of), ...unchanged] })).toEqual(["drain", vfs]);
  });

  it("are those of all PFs that change", () => {
    expect(drained({ interfaces: [spec(x, { numVfs: 6 }), spec(y), spec(other, { mtu: 9000 })] })).toEqual([
      "drain",
      `${x},${other}`,
    ]);
    expect(drained({ interfaces: [spec(x), spec(y)], unselected: [other] })).toEqual(["drain", other]);
  });

  it("are none if no pod is disrupted", () => {
    expect(drained({ interfaces: [spec(x), ...unchanged] })).toEqual(["none", undefined]);
    const first = [pf(x, { numVfs: 0, Vfs: [] }), pf(y), pf(other)];
    expect(drained({ interfaces: [spec(x), ...unchanged] }, first)).toEqual(["none", undefined]);
  });

  it("are not single ones before a reboot, or if Open vSwitch is restarted", () => {
    const reboot = { interfaces: [spec(x, { numVfs: 6 })], system: { rdmaMode: "exclusive" as const } };
    const observed = { interfaces: [pf(x)], system: { rdmaMode: "shared" as const, hasNetworkNamespaces: true } };
    const next = plan(reboot, observed, ownedInStatus(observed));
    expect([next.impact, vfsToDrain(next, observed)]).toEqual(["reboot", undefined]);
    const steps = [{ kind: "restart-ovs" as const }];
    const switchdev = { interfaces: [pf(x, { eSwitchMode: "switchdev" })] };
    expect(vfsToDrain({ impact: "drain", steps }, switchdev)).toBeUndefined();
  });

  it("are those of all ports of a card that is reset", () => {
    const steps = [{ kind: "reset-firmware" as const, card: "0000:3b:00", ports: [x, y] }];
    const vfs = vfsToDrain({ impact: "drain", steps }, { interfaces: [pf(x), pf(y)] });
    expect(vfs && formatVfSet(vfs)).toBe(`${x},${y}`);
  });
});
