// SPDX-License-Identifier: Apache-2.0
/**
 * Vdpa is the port for vDPA: devices that management devices, such as VFs, create, and that a driver of the vDPA bus binds to.
 */

/** "pci" and "0000:3b:00.2". Simulators have no bus. */
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
