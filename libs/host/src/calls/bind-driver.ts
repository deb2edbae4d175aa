// SPDX-License-Identifier: Apache-2.0
/**
 * Binds drivers to VFs and reads the result back. The kernel answers success to drivers_probe even if it binds nothing or another
 * driver (drivers/pci/pci-driver.c, 6.12). It does so if sriov_drivers_autoprobe is 0, if vfio-pci has the id of the VF
 * (vfio-pci.ids=), if the driver is blacklisted, and if its probe function fails.
 */
import { isUserSpaceDriver, type PciAddress } from "@switchyard/api";
import type { SriovSysfs } from "../ports/sriov-sysfs.ts";
import { HostError } from "./host-error.ts";

/** Drivers of VFs by the driver of their PF, where the two differ (drivers/net/ethernet, 6.12). */
const vfDrivers: Readonly<Record<string, string>> = {
  i40e: "iavf",
  ice: "iavf",
  idpf: "idpf",
  igb: "igbvf",
  ixgbe: "ixgbevf",
  fm10k: "fm10k",
  cxgb4: "cxgb4vf",
  liquidio: "liquidio_vf",
  octeon_ep: "octeon_ep_vf",
  rvu_nicpf: "rvu_nicvf",
  "thunder-nic": "thunder-nicvf",
};

/** What a driver is bound to. */
export interface BindTarget {
  readonly sriov: SriovSysfs;
  readonly pf: PciAddress;
  /** The VF, or the PF itself on a virtual machine. */
  readonly device: PciAddress;
}

/** Binds the device to this driver, whatever driver it has before. */
export async function bindTo({ sriov, device }: BindTarget, driver: string): Promise<void> {
  await sriov.setDriverOverride(device, driver);
  try {
    await unbindIfBound(sriov, device);
    await sriov.bindDriver(device, driver);
  } finally {
    // An override that stays would prevent the kernel's driver from binding after a later reset.
    await sriov.setDriverOverride(device, undefined);
  }
}

/**
 * Binds the device to its kernel driver unless it has one. Where the kernel does not choose that driver, it is named by
 * driver_override. Rejects with HostError ENODEV if the device has no kernel driver afterwards.
 */
export async function bindDefault(target: BindTarget): Promise<void> {
  const { sriov, pf, device } = target;
  await sriov.setDriverOverride(device, undefined);
  if (await isUserSpace(target)) await unbindIfBound(sriov, device);
  await sriov.probeDrivers(device);
  const chosen = await driverOf(target);
  if (chosen !== undefined && !isUserSpaceDriver(chosen)) return;
  const pfDriver = (await sriov.readPf(pf))?.driver;
  const wanted = pfDriver === undefined || device === pf ? undefined : (vfDrivers[pfDriver] ?? pfDriver);
  if (wanted !== undefined) {
    await sriov.setDriverOverride(device, wanted);
    try {
      if (chosen !== undefined) await unbindIfBound(sriov, device);
      await sriov.probeDrivers(device);
    } finally {
      await sriov.setDriverOverride(device, undefined);
    }
    if ((await driverOf(target)) === wanted) return;
  }
  throw new HostError({ action: "bind kernel driver", target: device }, "ENODEV", { words: wordsOf(chosen, wanted) });
}

/** Unbinds the device and binds it to its kernel driver. */
export async function rebindDefault(target: BindTarget): Promise<void> {
  await unbindIfBound(target.sriov, target.device);
  await bindDefault(target);
}

async function unbindIfBound(sriov: SriovSysfs, device: PciAddress): Promise<void> {
  try {
    await sriov.unbindDriver(device);
  } catch (thrown) {
    if (!(thrown instanceof HostError && thrown.code === "ENOENT")) throw thrown;
  }
}

/** Reports whether the device has a kernel driver. */
export async function hasKernelDriver(target: BindTarget): Promise<boolean> {
  const driver = await driverOf(target);
  return driver !== undefined && !isUserSpaceDriver(driver);
}

async function isUserSpace(target: BindTarget): Promise<boolean> {
  const driver = await driverOf(target);
  return driver !== undefined && isUserSpaceDriver(driver);
}

async function driverOf({ sriov, device }: BindTarget): Promise<string | undefined> {
  return (await sriov.readBinding(device))?.driver;
}

function wordsOf(chosen: string | undefined, wanted: string | undefined): string {
  const named = wanted === undefined ? "its kernel driver" : wanted;
  return chosen === undefined
    ? `the kernel binds no driver: ${named} is not loaded or blacklisted, does not support the VF, or has failed on it`
    : `the kernel binds ${chosen} instead of ${named}; remove the id of the VF from the kernel argument vfio-pci.ids`;
}
