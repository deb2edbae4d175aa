// SPDX-License-Identifier: Apache-2.0
/**
 * deviceHealth decides whether a device can be given to pods. Pure.
 * Usage: `deviceHealth({ isInHost: true, isHeld: false, earlierId: undefined, problem: undefined, wasHealthy: undefined })`.
 */

export interface DeviceFacts {
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

export interface DeviceHealth {
  readonly isHealthy: boolean;
  readonly problem?: string;
}

/** A device that a pod has is in the network namespace of the pod, and healthy. */
export function deviceHealth({ isInHost, isHeld, earlierId, problem, wasHealthy }: DeviceFacts): DeviceHealth {
  if (problem !== undefined) return { isHealthy: false, problem };
  if (earlierId !== undefined) return { isHealthy: false, problem: `a pod has it by its earlier id ${earlierId}` };
  if (isInHost || isHeld === true) return { isHealthy: true };
  if (isHeld === undefined) return { isHealthy: wasHealthy === true };
  return { isHealthy: false, problem: "the network interface does not exist on the host" };
}
