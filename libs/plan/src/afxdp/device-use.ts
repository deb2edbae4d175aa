// SPDX-License-Identifier: Apache-2.0
/**
 * Finds out which devices pods have, and why a step disrupts them. The status has what the kubelet says. If it does not answer, the
 * device shows it: its interface moves to the network namespace of its pod. The device plugin attaches its program when it gives a
 * device to a pod; the program stays after the pod.
 * Usage: `if (isSubfunctionHeld(subfunction)) held.push(subfunction.sfNumber);`.
 */
import { isUserSpaceDriver } from "@switchyard/api";
import type { AfxdpInterfaceStatus, AfxdpSubfunctionStatus } from "@switchyard/api";
import type { Reason } from "../impact.ts";
import type { AfxdpStep } from "./afxdp-step.ts";

/** Returns the identity of a device in specs and statuses: its PCI address or, if it has none, its name. */
export function deviceIdOf({ pciAddress, name }: Pick<AfxdpInterfaceStatus, "pciAddress" | "name">): string {
  return pciAddress ? pciAddress : (name ?? "");
}

/**
 * Reports whether the interface of the device is in a pod: it has a driver, but no interface on the host. A device without a PCI
 * address is known by its name only, which it keeps in the status while its state is not known.
 */
export function isAway({ pciAddress, name, driver, linkAdminState, owned }: AfxdpInterfaceStatus): boolean {
  if (pciAddress) return !name && hasInterface(driver);
  return owned === true && linkAdminState === undefined;
}

/** Reports whether the driver creates network interfaces: not vfio-pci, by which a device is of a program in user space. */
export function hasInterface(driver: string | undefined): boolean {
  return driver !== undefined && !isUserSpaceDriver(driver);
}

/** Reports whether a pod has, or is about to get, the device itself. */
function isDeviceHeld(device: AfxdpInterfaceStatus): boolean {
  return device.held ?? (isAway(device) || device.xdp?.program?.owned === true);
}

/** Reports whether the driver of an active subfunction is bound, and its interface is neither on the host nor in a pod. */
export function lacksInterface({ driver, name, held }: AfxdpSubfunctionStatus): boolean {
  return hasInterface(driver) && !name && held === false;
}

/** Reports whether a pod has, or is about to get, the subfunction. */
export function isSubfunctionHeld({ driver, name, xdp, held }: AfxdpSubfunctionStatus): boolean {
  return held ?? ((driver !== undefined && !name) || xdp?.program?.owned === true);
}

/** Returns one reason for each cause: eight subfunctions that are removed have one. `fieldOf` returns the field that causes a step. */
export function afxdpDrainReasons(
  steps: readonly AfxdpStep[],
  device: AfxdpInterfaceStatus,
  fieldOf: (step: AfxdpStep) => string,
): readonly Reason[] {
  const byField = new Map<string, Reason>();
  for (const step of steps) {
    const text = afxdpDisruptionOf(step, device);
    if (text === undefined) continue;
    const field = fieldOf(step);
    const { pciAddress } = device;
    const reason = { field, ...(pciAddress && { pciAddress }), text: `${step.device}: ${text}` };
    if (!byField.has(field)) byField.set(field, reason);
  }
  return [...byField.values()];
}

/** Returns why the step disrupts a pod, without the name of the device; undefined if it does not. */
export function afxdpDisruptionOf(step: AfxdpStep, device: AfxdpInterfaceStatus): string | undefined {
  const { subfunctions = [] } = device;
  switch (step.kind) {
    case "set-eswitch-mode": {
      const isUsed = isDeviceHeld(device) || subfunctions.some(isSubfunctionHeld);
      return isUsed ? `changing the eswitch mode to ${step.to} interrupts the devices of pods` : undefined;
    }
    case "set-mtu":
      return isTargetHeld(step, device) ? `changing the MTU to ${step.to} interrupts a device of a pod` : undefined;
    case "set-queues":
      return isTargetHeld(step, device)
        ? `changing the number of queues to ${step.to} interrupts a device of a pod`
        : undefined;
    case "deactivate-subfunction":
    case "delete-subfunction":
      return isTargetHeld(step, device) ? "removing subfunctions takes them away from pods" : undefined;
    case "release-device":
      return isDeviceHeld(device) ? "a pod has the device, which must be given back to the host" : undefined;
    case "set-link-up":
    case "create-subfunction":
    case "set-subfunction-mac":
    case "activate-subfunction":
    case "set-representor":
    case "connect-representor":
      return undefined;
  }
}

/** Reports whether the step disrupts a pod if one has the device or its subfunction. */
export function mayDisruptDevice({ kind }: AfxdpStep): boolean {
  return disruptsHolder[kind];
}

const disruptsHolder: Readonly<Record<AfxdpStep["kind"], boolean>> = {
  "set-eswitch-mode": true,
  "set-mtu": true,
  "set-queues": true,
  "deactivate-subfunction": true,
  "delete-subfunction": true,
  "release-device": true,
  "set-link-up": false,
  "create-subfunction": false,
  "set-subfunction-mac": false,
  "activate-subfunction": false,
  "set-representor": false,
  "connect-representor": false,
};

function isTargetHeld({ sfNumber }: { readonly sfNumber?: number }, device: AfxdpInterfaceStatus): boolean {
  if (sfNumber === undefined) return isDeviceHeld(device);
  return (device.subfunctions ?? []).some((one) => one.sfNumber === sfNumber && isSubfunctionHeld(one));
}
