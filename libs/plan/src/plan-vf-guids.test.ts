// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { InterfaceStatus, VfGroup, VfStatus } from "@switchyard/api";
import { plan } from "./plan.ts";
import { describeStep } from "./steps/step.ts";

const pciAddress = "0000:3b:00.0";
const zeros = "00:00:00:00:00:00:00:00";
const zeroNodeGuid = "0000:0000:0000:0000";

function planned(
  vf: Partial<VfStatus> | undefined,
  { group = {}, pf = {} }: { group?: VfGroup; pf?: Partial<InterfaceStatus> } = {},
) {
  const Vfs = vf && [{ pciAddress: "0000:3b:00.2", vfID: 0, name: "ibp0v0", driver: "mlx5_core", ...vf }];
  const status = { pciAddress, linkType: "IB", totalvfs: 8, numVfs: Vfs?.length ?? 0, ...(Vfs && { Vfs }), ...pf };
  const spec = { pciAddress, numVfs: 1, vfGroups: [{ vfRange: "0-0", isRdma: true, ...group }] };
  const { steps, impact } = plan({ interfaces: [spec] }, { interfaces: [status] }, new Map());
  return { steps: steps.map(describeStep), rebinds: steps.some((step) => "rebind" in step), impact };
}

const setGuid = `set GUID of VF 0 of ${pciAddress}`;

describe("the plan for GUIDs of InfiniBand VFs", () => {
  it("sets the GUID of a new VF and binds its driver again, without a drain", () => {
    const { steps, rebinds, impact } = planned(undefined);
    expect([steps, rebinds, impact]).toEqual([[`set sriov_numvfs 0 -> 1 on ${pciAddress}`, setGuid], true, "none"]);
  });

  it("sets the GUID of a new VF for virtual machines before it binds the driver", () => {
    const { steps, rebinds } = planned(undefined, { group: { deviceType: "vfio-pci", isRdma: false } });
    expect(steps.slice(-2)).toEqual([setGuid, `bind VF 0 of ${pciAddress} to vfio-pci`]);
    expect(rebinds).toBe(false);
  });

  it.each([
    { what: "the PF has assigned none", vf: { adminGuid: zeros, guid: zeroNodeGuid, rdmaDevice: "mlx5_2" } },
    {
      what: "only its RDMA device lacks it",
      vf: { adminGuid: "02:00:00:00:00:00:00:01", guid: zeroNodeGuid, rdmaDevice: "mlx5_2" },
    },
    { what: "an old kernel reports only the RDMA device", vf: { guid: zeroNodeGuid, rdmaDevice: "mlx5_2" } },
  ])("sets the GUID of an existing VF after a drain if $what", ({ vf }) => {
    expect(planned(vf)).toEqual({ steps: [setGuid], rebinds: true, impact: "drain" });
  });

  it("sets the GUID of an existing VF with a user-space driver without a drain", () => {
    const vf = { driver: "vfio-pci", adminGuid: zeros };
    const group = { deviceType: "vfio-pci", isRdma: false } as const;
    expect(planned(vf, { group })).toEqual({ steps: [setGuid], rebinds: false, impact: "none" });
  });

  it.each([
    { what: "has a GUID", vf: { adminGuid: "02:00:00:00:00:00:00:01", guid: "0200:0000:0000:0001" } },
    { what: "has an unknown GUID", vf: {} },
  ])("is empty for a VF that $what", ({ vf }) => {
    expect(planned(vf).steps).toEqual([]);
  });

  it("leaves VFs of other links alone", () => {
    const vf = { guid: zeroNodeGuid, rdmaDevice: "mlx5_2", adminMac: "02:00:00:00:00:01" };
    expect(planned(vf, { pf: { linkType: "ETH" } }).steps).toEqual([]);
  });
});
