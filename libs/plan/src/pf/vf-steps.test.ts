// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { DeviceType, VfStatus } from "@switchyard/api";
import { plan } from "../plan.ts";

/** Plans for one VF of a policy with this deviceType. */
function planFor(deviceType: DeviceType, vf: Partial<VfStatus>) {
  const pciAddress = "0000:01:00.0";
  const claim = { namespace: "default", name: "vm", uid: "u1" };
  const spec = {
    interfaces: [{ pciAddress, numVfs: 1, vfGroups: [{ resourceName: "fast", vfRange: "0-0", deviceType }] }],
  };
  const pf = {
    pciAddress,
    owned: true,
    totalvfs: 7,
    numVfs: 1,
    linkType: "ETH",
    linkAdminState: "up",
    eSwitchMode: "legacy",
  };
  const status = {
    interfaces: [{ ...pf, Vfs: [{ pciAddress: "0000:01:10.0", vfID: 0, adminMac: "02:00:00:00:00:01", ...vf }] }],
  };
  const ofClaim = (driver?: string) => ({ claim: { ...claim, ...(driver !== undefined && { driver }) } });
  const withClaim = (driver?: string) => {
    const [nic = { ...pf, Vfs: [] }] = status.interfaces;
    return { interfaces: [{ ...nic, Vfs: nic.Vfs.map((each) => ({ ...each, ...ofClaim(driver) })) }] };
  };
  const stepsOf = (found: typeof status) => plan(spec, found, new Map()).steps.map(({ kind }) => kind);
  return { withoutClaim: stepsOf(status), withClaim: (driver?: string) => stepsOf(withClaim(driver)) };
}

describe("the steps of a VF", () => {
  it("leaves the driver of a VF to the claim that asks for one", () => {
    const bound = planFor("netdevice", { driver: "vfio-pci" });
    expect(bound.withoutClaim).toContain("bind-driver");
    expect(bound.withClaim("vfio-pci")).toEqual([]);
    const notYet = planFor("netdevice", { driver: "igbvf", name: "v0" });
    expect(notYet.withClaim("vfio-pci")).toEqual([]);
    const kernel = planFor("vfio-pci", { driver: "igbvf", name: "v0" });
    expect(kernel.withoutClaim).toContain("bind-driver");
    expect(kernel.withClaim("default")).toEqual([]);
  });

  it("follows the policy if the claim asks for no driver", () => {
    const vf = planFor("netdevice", { driver: "vfio-pci" });
    expect(vf.withClaim()).toEqual(vf.withoutClaim);
  });
});
