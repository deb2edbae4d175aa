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
    /** What sriov_totalvfs says: the driver's limit, at most the capability's. */
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

/** The SR-IOV files of PCI functions. Rejects with HostError only. */
export interface SriovSysfs {
  /** All network PFs by ascending address. One that vanishes while it is read is left out. */
  listPfs(): Promise<readonly PfFacts[]>;
  /** One PF, or undefined where there is no such function. */
  readPf(pf: PciAddress): Promise<PfFacts | undefined>;
  /** From one non-zero count to another is EBUSY: set 0 between. Drivers may create fewer than asked: observe after. */
  setNumVfs(pf: PciAddress, count: number): Promise<void>;
  /** Whether VFs made from now on get their kernel driver at once. */
  setDriversAutoprobe(pf: PciAddress, on: boolean): Promise<void>;
  /** The only driver that may bind to the function; undefined lifts this. */
  setDriverOverride(device: PciAddress, driver: string | undefined): Promise<void>;
  /** ENODEV when the driver does not take the function, ENOENT when the driver is not loaded. */
  bindDriver(device: PciAddress, driver: string): Promise<void>;
  /** ENOENT when no driver is bound. */
  unbindDriver(device: PciAddress): Promise<void>;
  /** Lets the kernel choose a driver, as after hot-plug. No error where none wants the function. */
  probeDrivers(device: PciAddress): Promise<void>;
}
