// SPDX-License-Identifier: Apache-2.0
/**
 * The id of a device for the kubelet: what the CNI plugin host-device finds it by, which gets the id from Multus. It is the PCI
 * address, the name on the auxiliary bus for a subfunction ("mlx5_core.sf.4"), and the name of the network interface otherwise.
 */
import { isInterfaceName, parsePciAddress } from "@switchyard/api";

/** A device, and its name in the network namespace of the host. */
export interface DeviceId {
  readonly id: string;
  readonly name: string;
}

const auxiliaryName = /^[a-z0-9_]{1,32}\.sf\.\d{1,10}$/;

/** Returns the name on the auxiliary bus from the devlink handle of a subfunction; undefined if it is not on that bus. */
export function auxiliaryDevice(handle: string): string | undefined {
  const [bus, name = "", ...more] = handle.split("/");
  return bus === "auxiliary" && more.length === 0 && auxiliaryName.test(name) ? name : undefined;
}

/** Reports whether the text can be an id. */
export function isDeviceId(text: string): boolean {
  return parsePciAddress(text).ok || auxiliaryName.test(text) || isInterfaceName(text);
}

/** Reports whether the ids contain that of the device, or its name, which was the id in earlier versions. */
export function hasDevice(ids: { has(id: string): boolean }, { id, name }: DeviceId): boolean {
  return ids.has(id) || ids.has(name);
}

interface DeviceHealthInput {
  /** The network interface is in the network namespace of the host, so its driver is there, too. */
  readonly isInHost: boolean;
  /** A pod has the device; undefined if the kubelet did not say. */
  readonly isHeld: boolean | undefined;
  /** A pod has the device by this id, which an earlier version gave it. The kubelet does not know that it is this device. */
  readonly earlierId: string | undefined;
  /** Why it does not have the XDP program that it needs. */
  readonly problem: string | undefined;
  /** The last answer. */
  readonly wasHealthy: boolean | undefined;
}

interface DeviceHealth {
  readonly isHealthy: boolean;
  readonly problem?: string;
}

/**
 * deviceHealth decides whether a device can be given to pods. Pure. A device that a pod has is in the network namespace of the
 * pod, and healthy.
 */
export function deviceHealth({ isInHost, isHeld, earlierId, problem, wasHealthy }: DeviceHealthInput): DeviceHealth {
  if (problem !== undefined) return { isHealthy: false, problem };
  if (earlierId !== undefined) return { isHealthy: false, problem: `a pod has it by its earlier id ${earlierId}` };
  if (isInHost || isHeld === true) return { isHealthy: true };
  if (isHeld === undefined) return { isHealthy: wasHealthy === true };
  return { isHealthy: false, problem: "the network interface does not exist on the host" };
}
