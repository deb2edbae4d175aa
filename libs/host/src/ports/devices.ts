// SPDX-License-Identifier: Apache-2.0
/**
 * Devlink is the port for devlink, the control interface of the embedded switch of a NIC.
 */
import type { Guid, MacAddress, PciAddress } from "@switchyard/api";

export type EswitchMode = "legacy" | "switchdev";

/** Rejects with HostError only. */
export interface Devlink {
  /** Returns undefined if the driver has no devlink instance, or no eswitch that belongs to the host. Such a NIC is in legacy mode. */
  readEswitchMode(pf: PciAddress): Promise<EswitchMode | undefined>;
  /**
   * Changes the mode, which can take a second for each VF. Its inline mode and its encapsulation mode stay. EOPNOTSUPP without
   * an eswitch, and on ice while VFs exist; EBUSY on mlx5_core while drivers are bound to VFs.
   */
  setEswitchMode(pf: PciAddress, mode: EswitchMode): Promise<void>;
  /** Returns the present value of a parameter of the driver; undefined if it does not have such a parameter with a text. */
  readParameter(pf: PciAddress, name: string): Promise<string | undefined>;
  /** Changes a parameter until the driver is unbound. EINVAL for an unknown parameter or value, ENODEV without devlink. */
  setParameter(pf: PciAddress, name: string, value: string): Promise<void>;
  /** Returns the reporters by which the driver says whether card and queues work; none without devlink or without reporters. */
  listHealthReporters(pf: PciAddress): Promise<readonly HealthReporter[]>;
}

/** A health reporter of a devlink instance, "fw_fatal". It is in error from a failure until the driver has recovered. */
export interface HealthReporter {
  readonly name: string;
  readonly state: "healthy" | "error";
}

/**
 * Subfunctions is the port for subfunctions: parts of a PF that have a network interface each, without a PCI function of their
 * own. They are created by devlink, and their drivers are bound on the auxiliary bus.
 * A subfunction of a PF of this host.
 */
export interface Subfunction {
  readonly pf: PciAddress;
  /** Index of its port at the PF, by which the other methods identify it. */
  readonly portIndex: number;
  /** Number that was chosen at its creation (sfnum). Unique on the PF. */
  readonly sfNumber: number;
  /** Address that was assigned; all zero, or an address that the driver chose, before. Absent if the driver does not report it. */
  readonly mac?: string;
  /** What was requested. */
  readonly state: "inactive" | "active";
  /** Whether a driver uses it now. */
  readonly operationalState: "detached" | "attached";
  /** Its device on the auxiliary bus, "mlx5_core.sf.4". Its number is not sfNumber. Absent while there is none. */
  readonly device?: string;
  /** Driver of the device, "mlx5_core.sf"; absent while none is bound. */
  readonly driver?: string;
  /** Its network interface; absent while there is none in the network namespace of the daemon. */
  readonly netdev?: string;
  /** Network interface that represents it at the PF; absent as for netdev. */
  readonly representor?: string;
}

/** Rejects with HostError only. Its `words` are those of the driver. ENODEV for a PF without devlink instance. */
export interface Subfunctions {
  /** Returns the subfunctions of all PFs by ascending address and sfNumber. Those of another host, as on a SmartNIC, are left out. */
  list(): Promise<readonly Subfunction[]>;
  /** Returns how many subfunctions the PF can have; undefined if its driver does not report a limit. */
  readLimit(pf: PciAddress): Promise<number | undefined>;
  /**
   * Creates an inactive subfunction and returns the index of its port. EBUSY or EEXIST if the number is in use, EOPNOTSUPP if the
   * driver has no subfunctions, or not in legacy mode; ENOSPC if the PF has all its subfunctions.
   */
  create(pf: PciAddress, sfNumber: number): Promise<number>;
  /** EBUSY while the subfunction is active, ENODEV without such a port, EOPNOTSUPP if the driver chooses the address. */
  setMac(pf: PciAddress, portIndex: number, mac: MacAddress): Promise<void>;
  /** Its device appears and disappears during the call, or later with some drivers. ENODEV without such a port. */
  setActive(pf: PciAddress, portIndex: number, active: boolean): Promise<void>;
  /**
   * Makes the driver of a device, "mlx5_core.sf.4", create its network interface, and returns whether that was necessary. Since
   * Linux 6.5, mlx5_core creates none before the parameter enable_eth of the device is set. False if it is set, and for drivers
   * without this parameter. ENODEV without such a device.
   */
  enableEthernet(device: string): Promise<boolean>;
  /** EBUSY while the subfunction is active, ENODEV without such a port. */
  remove(pf: PciAddress, portIndex: number): Promise<void>;
}

/**
 * Rdma is the port for the RDMA subsystem (ib_core).
 * RDMA devices are visible in all network namespaces (shared), or each in one (exclusive).
 */
export type RdmaMode = "shared" | "exclusive";

export interface RdmaDevice {
  /** "mlx5_0". */
  readonly name: string;
  /** The PCI function of the device; absent for software devices. */
  readonly pciAddress?: PciAddress;
  /** "0c42:a103:0016:054c"; all zeros if the device has none. */
  readonly nodeGuid: string;
  /** State of its first port: "DOWN", "INIT", "ARMED" or "ACTIVE"; absent if it is not known. */
  readonly portState?: string;
}

/** Rejects with HostError only. */
export interface Rdma {
  /** Returns undefined if ib_core is not loaded, or too old to have modes (before Linux 5.2). Never loads ib_core. */
  readMode(): Promise<RdmaMode | undefined>;
  /** EBUSY while any other network namespace exists, EPROTONOSUPPORT if ib_core is not loaded. Never loads ib_core. */
  setMode(mode: RdmaMode): Promise<void>;
  /** Returns the devices by name. In exclusive mode, devices in other network namespaces are left out. */
  listDevices(): Promise<readonly RdmaDevice[]>;
  /**
   * Sets the node GUID and the port GUID of an InfiniBand VF. The RDMA device of the VF gets them when a driver binds to the VF
   * the next time. EOPNOTSUPP if the PF has no GUIDs, ENODEV if there is no such interface, EINVAL if the VF does not exist.
   */
  setVfGuid(pfName: string, vfId: number, guid: Guid): Promise<void>;
}

/**
 * Vdpa is the port for vDPA: devices that management devices, such as VFs, create, and that a driver of the vDPA bus binds to.
 * "pci" and "0000:3b:00.2". Simulators have no bus.
 */
export interface VdpaManagement {
  readonly bus?: string;
  readonly device: string;
}

export interface VdpaManagementDevice extends VdpaManagement {
  /** Largest number of virtqueues of a device; absent if the kernel does not report it (before Linux 5.16). */
  readonly maxVirtqueues?: number;
}

export interface VdpaDevice {
  readonly name: string;
  readonly management: VdpaManagement;
  /** "virtio_vdpa", "vhost_vdpa"; absent while no driver is bound. */
  readonly driver?: string;
}

export interface NewVdpaDevice {
  readonly name: string;
  readonly management: VdpaManagement;
  /** Of a network device; the default of the management device if absent. */
  readonly maxVirtqueuePairs?: number;
}

/** Rejects with HostError only: EINVAL if a value cannot be the name of a device or driver. Never loads a module. */
export interface Vdpa {
  /** Returns an empty list if vDPA is not loaded. */
  listManagementDevices(): Promise<readonly VdpaManagementDevice[]>;
  /** Returns an empty list if vDPA is not loaded. */
  listDevices(): Promise<readonly VdpaDevice[]>;
  /**
   * Creates a device. The kernel binds the first driver that is loaded. EEXIST if the name is in use, ENODEV if there is no such
   * management device, EOPNOTSUPP if it does not support a number of virtqueues.
   */
  addDevice(device: NewVdpaDevice): Promise<void>;
  /** ENODEV if there is no such device, EBUSY if something else created it. Hangs while a process uses its character device. */
  removeDevice(name: string): Promise<void>;
  /** Allows only this driver to bind to the device; undefined removes the override. It ends when the device is removed. */
  setDriverOverride(name: string, driver: string | undefined): Promise<void>;
  /** ENODEV if there is no such device, or if its override excludes the driver; EBUSY if a driver is bound, ENOENT if the driver is not loaded. */
  bindDriver(name: string, driver: string): Promise<void>;
  /** ENOENT if no driver is bound. */
  unbindDriver(name: string): Promise<void>;
}
