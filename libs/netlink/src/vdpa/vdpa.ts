// SPDX-License-Identifier: Apache-2.0
/**
 * vDPA devices, by the generic netlink family vdpa (linux/vdpa.h). A management device, such as a VF of mlx5 or
 * vdpasim_net, makes vDPA devices; vdpa(8) from iproute2 does the same.
 * Usage: `const family = await resolveFamily(socket, vdpaFamily); await listVdpaDevices(family);`
 */
import { dumpGeneric, requestGeneric, type GenericFamily } from "../generic-netlink.ts";
import { malformed } from "../netlink-error.ts";
import { find, readText, readU32, text, u16, type Attribute } from "../wire/attributes.ts";

/** The name for resolveFamily(). */
export const vdpaFamily = "vdpa";

/** A management device. Simulators have no bus. */
export interface VdpaManagementHandle {
  /** "pci" */
  readonly bus?: string;
  /** "0000:3b:00.2", "vdpasim_net" */
  readonly device: string;
}

export interface VdpaManagementDevice extends VdpaManagementHandle {
  /** The largest number of virtqueues of a device; undefined if the kernel does not tell, as before Linux 5.16. */
  readonly maxVirtqueues: number | undefined;
}

export interface VdpaDevice {
  readonly name: string;
  readonly management: VdpaManagementHandle;
  /** VIRTIO_ID_*: 1 is a network device. */
  readonly deviceId: number;
  readonly maxVirtqueues: number;
}

const commands = { getManagement: 2, newDevice: 3, deleteDevice: 4, getDevice: 5 };
const attributes = {
  managementBus: 1,
  managementDevice: 2,
  deviceName: 4,
  deviceId: 5,
  maxVirtqueues: 7,
  netMaxVirtqueuePairs: 12,
  managementMaxVirtqueues: 15,
};

/** `vdpa mgmtdev show`. Rejects with NetlinkError. */
export async function listVdpaManagementDevices(family: GenericFamily): Promise<readonly VdpaManagementDevice[]> {
  const answers = await dumpGeneric(family, {
    tried: "list vDPA management devices",
    command: commands.getManagement,
    attributes: [],
  });
  return answers.map((answer) => {
    const most = find(answer, attributes.managementMaxVirtqueues);
    return { ...readHandle(answer), maxVirtqueues: most && readU32(most) };
  });
}

/** `vdpa dev show`. Rejects with NetlinkError. */
export async function listVdpaDevices(family: GenericFamily): Promise<readonly VdpaDevice[]> {
  const request = { tried: "list vDPA devices", command: commands.getDevice, attributes: [] };
  return (await dumpGeneric(family, request)).map((answer) => ({
    name: readText(required(answer, attributes.deviceName)),
    management: readHandle(answer),
    deviceId: readU32(required(answer, attributes.deviceId)),
    maxVirtqueues: readU32(required(answer, attributes.maxVirtqueues)),
  }));
}

export interface NewVdpaDevice {
  readonly name: string;
  readonly management: VdpaManagementHandle;
  /** Pairs of virtqueues of a network device. The management device's default if absent. */
  readonly maxVirtqueuePairs?: number | undefined;
}

/**
 * `vdpa dev add`. Rejects with NetlinkError: EEXIST if there is a device of this name, ENODEV if there is no such management
 * device, EINVAL or EOPNOTSUPP if it cannot have so many virtqueues.
 */
export async function addVdpaDevice(family: GenericFamily, device: NewVdpaDevice): Promise<void> {
  const { name, management, maxVirtqueuePairs } = device;
  const handle = [text(attributes.managementDevice, management.device)];
  if (management.bus !== undefined) handle.unshift(text(attributes.managementBus, management.bus));
  await requestGeneric(family, {
    tried: `add vDPA device ${name} to ${management.device}`,
    command: commands.newDevice,
    attributes: [
      ...handle,
      text(attributes.deviceName, name),
      ...(maxVirtqueuePairs === undefined ? [] : [u16(attributes.netMaxVirtqueuePairs, maxVirtqueuePairs)]),
    ],
  });
}

/** `vdpa dev del`. Rejects with NetlinkError: ENODEV if there is no such device, EBUSY if it was not made by netlink. */
export async function deleteVdpaDevice(family: GenericFamily, name: string): Promise<void> {
  await requestGeneric(family, {
    tried: `delete vDPA device ${name}`,
    command: commands.deleteDevice,
    attributes: [text(attributes.deviceName, name)],
  });
}

function readHandle(answer: readonly Attribute[]): VdpaManagementHandle {
  const bus = find(answer, attributes.managementBus);
  const device = readText(required(answer, attributes.managementDevice));
  return bus === undefined ? { device } : { bus: readText(bus), device };
}

function required(answer: readonly Attribute[], type: number): Buffer {
  const value = find(answer, type);
  if (value === undefined) throw malformed(`vDPA answer without attribute ${type}`);
  return value;
}
