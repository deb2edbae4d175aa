// SPDX-License-Identifier: Apache-2.0
/**
 * Implements vDPA on the fake kernel by the rules of drivers/vdpa/vdpa.c and drivers/base/bus.c (6.12): management devices are
 * simulators, and VFs whose driver supports vDPA.
 */
import { defined } from "@switchyard/api";
import { checkKernelName, checkVdpaName } from "../linux/system/kernel-names.ts";
import type { Vdpa, VdpaManagement } from "../ports/devices.ts";
import { answer, Refusal } from "./faults.ts";

export interface FakeVdpa {
  readonly port: Vdpa;
  /** Loads a driver, which binds to each device without a driver. */
  register(driver: string): void;
  addManager(management: VdpaManagement, limits: ManagerLimits): void;
  /** Removes a management device and its devices, if it exists. */
  removeManager(device: string): void;
  /** Unloads all drivers and simulators, and removes all devices. */
  unload(): void;
}

export interface ManagerLimits {
  readonly maxVirtqueues: number;
  /** Whether a device can have fewer virtqueues. */
  readonly hasPairs?: boolean;
  /** Number of devices; unlimited by default. */
  readonly maxDevices?: number;
}

interface Device {
  readonly management: VdpaManagement;
  driver: string | undefined;
  override: string | undefined;
}

export function createFakeVdpa(): FakeVdpa {
  const managers = new Map<string, { readonly management: VdpaManagement; readonly limits: ManagerLimits }>();
  const devices = new Map<string, Device>();
  const drivers = new Set<string>();

  function find(name: string): Device {
    checkVdpaName(name);
    const device = devices.get(name);
    if (device === undefined) throw new Refusal("ENOENT"); // the directory in sysfs does not exist
    return device;
  }

  function bindFirst(device: Device): void {
    device.driver ??= [...drivers].find((driver) => driver === (device.override ?? driver));
  }

  function devicesOf(device: string): readonly string[] {
    return [...devices].flatMap(([name, { management }]) => (management.device === device ? [name] : []));
  }

  const port: Vdpa = {
    listManagementDevices: () =>
      answer(() =>
        [...managers.values()].map(({ management, limits: { maxVirtqueues } }) => ({ ...management, maxVirtqueues })),
      ),
    listDevices: () =>
      answer(() =>
        [...devices].map(([name, { management, driver }]) => ({ name, management, ...defined({ driver }) })),
      ),
    addDevice: ({ name, management, maxVirtqueuePairs }) =>
      answer(() => {
        checkVdpaName(name);
        const manager = managers.get(management.device);
        if (manager === undefined && managers.size + drivers.size === 0)
          throw new Refusal("ENODEV", "vDPA is not loaded");
        if (manager === undefined || manager.management.bus !== management.bus)
          throw new Refusal("ENODEV", "Fail to find the specified management device");
        const { maxVirtqueues, hasPairs = false, maxDevices = Infinity } = manager.limits;
        if (maxVirtqueuePairs !== undefined && !hasPairs)
          throw new Refusal("EOPNOTSUPP", "Some provided attributes are not supported");
        if (maxVirtqueuePairs !== undefined && maxVirtqueuePairs * 2 > maxVirtqueues) throw new Refusal("EINVAL");
        if (devices.has(name)) throw new Refusal("EEXIST");
        if (devicesOf(management.device).length >= maxDevices) throw new Refusal("ENOSPC");
        const device = { management, driver: undefined, override: undefined };
        devices.set(name, device);
        bindFirst(device);
      }),
    removeDevice: (name) =>
      answer(() => {
        checkVdpaName(name);
        if (managers.size + drivers.size === 0) throw new Refusal("ENODEV", "vDPA is not loaded");
        if (!devices.delete(name)) throw new Refusal("ENODEV", "device not found");
      }),
    setDriverOverride: (name, driver) =>
      answer(() => {
        if (driver !== undefined) checkKernelName(driver);
        find(name).override = driver;
      }),
    bindDriver: (name, driver) =>
      answer(() => {
        checkVdpaName(name);
        checkKernelName(driver);
        if (!drivers.has(driver)) throw new Refusal("ENOENT");
        const device = devices.get(name);
        if (device === undefined || (device.override ?? driver) !== driver) throw new Refusal("ENODEV");
        if (device.driver !== undefined) throw new Refusal("EBUSY");
        device.driver = driver;
      }),
    unbindDriver: (name) =>
      answer(() => {
        const device = find(name);
        if (device.driver === undefined) throw new Refusal("ENOENT");
        device.driver = undefined;
      }),
  };

  return {
    port,
    register(driver) {
      drivers.add(driver);
      for (const device of devices.values()) bindFirst(device);
    },
    addManager: (management, limits) => void managers.set(management.device, { management, limits }),
    removeManager(device) {
      managers.delete(device);
      for (const name of devicesOf(device)) devices.delete(name);
    },
    unload() {
      drivers.clear();
      devices.clear();
      for (const [name, { management }] of managers) if (management.bus === undefined) managers.delete(name);
    },
  };
}
