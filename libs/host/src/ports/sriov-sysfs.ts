// SPDX-License-Identifier: Apache-2.0
/**
 * Port: PCI network functions and their SR-IOV files in sysfs.
 */
import type { PciAddress } from "@switchyard/api";

/** A physical function of class 02 (network). */
export interface PfFacts {
  readonly pciAddress: PciAddress;
  /** Four hexadecimal digits: "8086". */
  readonly vendor: string;
  /** Four hexadecimal digits: "10c9". */
  readonly deviceId: string;
  /** Absent while none is bound. */
  readonly driver?: string;
  /** Names under net/, sorted. In switchdev mode representors are among them. */
  readonly netdevs: readonly string[];
  /** Absent where the function has no SR-IOV capability. */
  readonly sriov?: {
    /** What sriov_totalvfs says: the driver's limit; the capability's, which may be higher, while no driver is bound. */
    readonly totalVfs: number;
    readonly numVfs: number;
    /** By ascending vfId. */
    readonly vfs: readonly VfFacts[];
  };
}

/** A virtual function. */
export interface VfFacts {
  /** N of virtfnN. */
  readonly vfId: number;
  readonly pciAddress: PciAddress;
  readonly vendor: string;
  readonly deviceId: string;
  /** Absent while none is bound. */
  readonly driver?: string;
  /** Names under net/ in the daemon's network namespace, sorted. */
  readonly netdevs: readonly string[];
}

/** The SR-IOV files of PCI functions. Rejects with HostError only: EINVAL for what cannot be the name of a driver. */
export interface SriovSysfs {
  /**
   * All network PFs by ascending address. One that vanishes while it is read is left out, and so are those of `except`,
   * which are not even looked at: to read a PF whose VF count is being written waits for the end of that.
   */
  listPfs(except?: readonly PciAddress[]): Promise<readonly PfFacts[]>;
  /** One PF, or undefined where there is none. While its VF count is being written this waits for the end of that. */
  readPf(pf: PciAddress): Promise<PfFacts | undefined>;
  /**
   * From one non-zero count to another is EBUSY: set 0 between. ERANGE above totalVfs, ENOENT without a driver that makes
   * VFs. Drivers may create fewer than asked: observe after.
   */
  setNumVfs(pf: PciAddress, count: number): Promise<void>;
  /** Whether VFs get their kernel driver by themselves. While off, bindDriver too needs a driver override (ENODEV). */
  setDriversAutoprobe(pf: PciAddress, on: boolean): Promise<void>;
  /** The only driver that may bind to the function from now on; undefined lifts this. It ends with the function. */
  setDriverOverride(device: PciAddress, driver: string | undefined): Promise<void>;
  /** ENODEV when the driver does not take the function, EBUSY when it has one, ENOENT when the driver is not loaded. */
  bindDriver(device: PciAddress, driver: string): Promise<void>;
  /** ENOENT when no driver is bound. */
  unbindDriver(device: PciAddress): Promise<void>;
  /** Lets the kernel choose a driver, as after hot-plug. No error where none wants the function, or fails on it. */
  probeDrivers(device: PciAddress): Promise<void>;
}
