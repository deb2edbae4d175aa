// SPDX-License-Identifier: Apache-2.0
/**
 * DriverQuirks are behaviours of real drivers, firmwares and hosts that the models in nic-models.ts do not have by
 * default. Most of them depend on the version, the settings or the state of a card. Sources: drivers/pci/iov.c,
 * drivers/pci/pci-driver.c and drivers/net/ethernet of Linux 6.12.117.
 * Usage: `createFakeKernel({ nics: [withQuirks(ice("0000:18:00.0"), { refusesNumVfs: { above: 16, code: "ENOSPC" } })] })`.
 */
import type { PciAddress } from "@switchyard/api";

export interface DriverQuirks {
  /** The driver creates at most this number of VFs, and the write of a higher number succeeds (bnxt_en). */
  readonly createsAtMost?: number;
  /** Each write of sriov_numvfs, also of 0, succeeds without an effect: while the interface is down, or always (bnxt_en). */
  readonly ignoresNumVfs?: "while-down" | "always";
  /** More VFs than `above` are refused, with a line in the kernel log (ice ENOSPC, i40e and ixgbe EPERM, octeon_ep EINVAL). */
  readonly refusesNumVfs?: { readonly above: number; readonly code: string; readonly log?: string };
  /** The first requests for VFs that fail with EAGAIN (ice_start_vfs, i40e). */
  readonly busyNumVfs?: number;
  /** The mode of the eswitch never changes. */
  readonly refusesEswitchMode?: { readonly code: string; readonly words: string };
  /** Time between VFs that appear one by one after the write of sriov_numvfs has ended (s390x, no_vf_scan). */
  readonly vfIntervalMs?: number;
  /** Value of sriov_drivers_autoprobe: without it, a VF is probed only with a driver_override. On by default. */
  readonly autoprobe?: boolean;
  /** Whether vfio-pci takes each new VF (kernel argument vfio-pci.ids). */
  readonly isVfioFirst?: boolean;
  /** VFs for which the probe function of their kernel driver fails with ENODEV. */
  readonly failsToProbe?: readonly number[];
  /** Time from the bind of a VF's driver to its interface (iavf). */
  readonly interfaceAfterMs?: number;
  /** VFs whose driver never creates an interface, and those for which it does so only after the second bind (iavf). */
  readonly neverHasInterface?: readonly number[];
  readonly hasInterfaceAfterSecondBind?: readonly number[];
  /** The driver of the PF has neither ndo_set_vf_mac nor ndo_get_vf_config (octeon_ep, idpf, ena). */
  readonly hasNoVfMacs?: boolean;
  /** The address of a VF is zero until one is assigned (ionic). */
  readonly hasZeroVfMac?: boolean;
  /** The first assignments of MAC addresses that fail with EAGAIN (i40e, while the VF is in reset). */
  readonly busyVfMacs?: number;
  /** Each assignment of a MAC address is refused (ice EINVAL while a VF does not become ready, otx2 EAGAIN while the PF is down). */
  readonly refusesVfMacs?: { readonly code: string };
  /** Each change of an MTU is refused: of the PF (i40e EINVAL with XDP), or of its VFs (ixgbevf EINVAL if the PF refuses it). */
  readonly refusesMtu?: { readonly of: "pf" | "vfs"; readonly code: string };
  /** The interface of the PF cannot be set up (ice EIO after a reset that has failed). */
  readonly refusesLinkUp?: { readonly code: string };
  /** vfio-pci does not bind the VFs (EINVAL without an IOMMU group). */
  readonly refusesVfio?: { readonly code: string };
  /** The assignment of a MAC address resets the VF, whose interface is absent for this time (i40e, ice). */
  readonly vfResetMs?: number;
  /** Devices that share the IOMMU group of each VF, as where a bridge has no ACS. */
  readonly sharesIommuGroupWith?: readonly string[];
  /** The port passes no packets of the host in one of these states: a switch that drops long frames, a driver that lost its rules. */
  readonly losesConnectivity?: {
    readonly mtuAbove?: number;
    readonly withVfs?: boolean;
    readonly inSwitchdev?: boolean;
  };
}

/** The present quirks of all PFs, and how many requests are still refused for a moment. */
export interface QuirksByPf {
  of(pf: PciAddress): DriverQuirks;
  /** Replaces the quirks of a PF. */
  set(pf: PciAddress, quirks: DriverQuirks): void;
  /** Counts a request; true if it is one of the first ones, which fail with EAGAIN. */
  isBusy(pf: PciAddress, request: "busyNumVfs" | "busyVfMacs"): boolean;
}

export function createQuirks(): QuirksByPf {
  const byPf = new Map<PciAddress, DriverQuirks>();
  const counts = new Map<string, number>();

  return {
    of: (pf) => byPf.get(pf) ?? {},
    set(pf, quirks) {
      byPf.set(pf, quirks);
      for (const request of ["busyNumVfs", "busyVfMacs"]) counts.delete(`${pf} ${request}`);
    },
    isBusy(pf, request) {
      const key = `${pf} ${request}`;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return count <= (byPf.get(pf)?.[request] ?? 0);
    },
  };
}
