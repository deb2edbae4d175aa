// SPDX-License-Identifier: Apache-2.0
/**
 * SriovSysfs is the port for PCI network functions and their SR-IOV files in sysfs.
 */
import type { PciAddress } from "@switchyard/api";

/** A physical function of class 02 (network). */
export interface SysfsPf {
  readonly pciAddress: PciAddress;
  /** Four hexadecimal digits: "8086". */
  readonly vendor: string;
  /** Four hexadecimal digits: "10c9". */
  readonly deviceId: string;
  /** Absent while no driver is bound. */
  readonly driver?: string;
  /** Names in net/, sorted. In switchdev mode they include representors. */
  readonly netdevs: readonly string[];
  /** The PCIe root complex that the function is below: "pci0000:3a". Absent in a tree without the links of sysfs. */
  readonly pcieRoot?: string;
  /** Absent if the function belongs to no NUMA node. */
  readonly numaNode?: number;
  /** Absent if the function has no SR-IOV capability. */
  readonly sriov?: {
    /** Value of sriov_totalvfs: the limit of the driver. While no driver is bound, the limit of the capability, which can be higher. */
    readonly totalVfs: number;
    readonly numVfs: number;
    /** By ascending vfId. */
    readonly vfs: readonly SysfsVf[];
  };
}

/** A virtual function. */
export interface SysfsVf {
  /** N of virtfnN. */
  readonly vfId: number;
  readonly pciAddress: PciAddress;
  readonly vendor: string;
  readonly deviceId: string;
  /** Absent while no driver is bound. */
  readonly driver?: string;
  /** Names in net/ in the network namespace of the daemon, sorted. */
  readonly netdevs: readonly string[];
  /**
   * Other devices in its IOMMU group, with their drivers: "0000:02:00.0 (tg3)"; absent if there are none, and while the VF is not bound
   * to vfio-pci. Bridges of PCI are left out.
   */
  readonly iommuGroupPeers?: readonly string[];
}

/** A PCI function and its driver. */
export interface PciBinding {
  /** Absent while no driver is bound. */
  readonly driver?: string;
  /** The only driver that can be bound (driver_override). Absent if the kernel chooses by device ID. */
  readonly driverOverride?: string;
  /**
   * Different each time the function is created or a driver is bound to it, as long as the kernel runs. A VF with the same
   * address and driver can have another IOMMU group, RDMA device or vDPA device than before.
   */
  readonly incarnation: string;
}

/** Rejects with HostError only: EINVAL if a value cannot be the name of a driver. */
export interface SriovSysfs {
  /**
   * Returns all network PFs by ascending address. A PF that vanishes while it is read is left out. The PFs of `except` are
   * not read at all, because reading a PF blocks while its number of VFs is being written.
   */
  listPfs(except?: readonly PciAddress[]): Promise<readonly SysfsPf[]>;
  /** Returns the PF, or undefined if there is no PF at this address. Blocks while its number of VFs is being written. */
  readPf(pf: PciAddress): Promise<SysfsPf | undefined>;
  /**
   * EBUSY for a change between two non-zero numbers: set 0 first. ERANGE above totalVfs, ENOENT without a driver that
   * supports SR-IOV. The driver may create fewer VFs than requested, so read the PF afterwards.
   */
  setNumVfs(pf: PciAddress, count: number): Promise<void>;
  /** Returns the driver and the incarnation of a function, or undefined if it does not exist. Never blocks. */
  readBinding(device: PciAddress): Promise<PciBinding | undefined>;
  /** Allows only this driver to bind to the function; undefined removes the override. It ends when the function is removed. */
  setDriverOverride(device: PciAddress, driver: string | undefined): Promise<void>;
  /** ENODEV if the driver does not support the function, EBUSY if a driver is bound, ENOENT if the driver is not loaded. */
  bindDriver(device: PciAddress, driver: string): Promise<void>;
  /** ENOENT if no driver is bound. */
  unbindDriver(device: PciAddress): Promise<void>;
  /** Lets the kernel choose a driver, as after hot-plug. No error if no driver supports the function, or the driver fails. */
  probeDrivers(device: PciAddress): Promise<void>;
}
