// SPDX-License-Identifier: Apache-2.0
/**
 * Lists the kinds of steps that configure AF_XDP devices. Steps are plain data. A step names a device as specs do, and a
 * subfunction by its number, because its port does not exist when the plan is made.
 * Usage: `planAfxdp(spec, status).steps.map(describeAfxdpStep)`.
 */
import type { EswitchMode } from "../steps/eswitch.ts";

/** The fields that all steps have. */
interface OnDevice {
  /** PCI address of the device, or its name if it is not a PCI device. */
  readonly device: string;
}

/** A step that changes the network interface of the device or, with `sfNumber`, that of a subfunction. */
interface OnInterface extends OnDevice {
  readonly sfNumber?: number;
}

interface OnSubfunction extends OnDevice {
  readonly sfNumber: number;
}

/** The kinds of steps by their names. */
interface AfxdpStepKinds {
  /** Changes the mode of the embedded switch. Drivers create subfunctions in mode switchdev only. */
  readonly "set-eswitch-mode": OnDevice & { readonly from: EswitchMode; readonly to: EswitchMode };
  /** Sets the link of the device up. */
  readonly "set-link-up": OnDevice;
  /** Sets the MTU in bytes. `from` is absent for a subfunction that does not exist yet. */
  readonly "set-mtu": OnInterface & { readonly from?: number; readonly to: number };
  /** Sets the number of queues. `from` is absent for a subfunction that does not exist yet. */
  readonly "set-queues": OnInterface & { readonly from?: number; readonly to: number };
  /** Creates a subfunction, which is inactive. */
  readonly "create-subfunction": OnSubfunction;
  /** Gives the inactive subfunction the MAC address that is recorded for it. */
  readonly "set-subfunction-mac": OnSubfunction;
  /** Activates the subfunction, makes its driver create the network interface, and waits for it. */
  readonly "activate-subfunction": OnSubfunction;
  /** Sets the representor of the subfunction up, which gives the subfunction its link, and its MTU if `mtu` is there. */
  readonly "set-representor": OnSubfunction & { readonly mtu?: number };
  /** Makes the representor of the subfunction a port of the bridge of Linux or Open vSwitch, which must be one of Switchyard's. */
  readonly "connect-representor": OnSubfunction & { readonly bridge: string };
  /** Deactivates the subfunction, which removes its network interface. */
  readonly "deactivate-subfunction": OnSubfunction;
  readonly "delete-subfunction": OnSubfunction;
  /** Removes the record of the device: Switchyard does not own it any longer. */
  readonly "release-device": OnDevice;
}

/** One change; `AfxdpStep<"set-mtu">` is a change of the MTU. */
export type AfxdpStep<Name extends keyof AfxdpStepKinds = keyof AfxdpStepKinds> = {
  [Each in Name]: { readonly kind: Each } & AfxdpStepKinds[Each];
}[Name];

/** Returns the step as text: "create subfunction 3 on 0000:86:00.0". */
export function describeAfxdpStep(step: AfxdpStep): string {
  switch (step.kind) {
    case "set-eswitch-mode":
      return `set eswitch mode ${step.from} -> ${step.to} on ${step.device}`;
    case "set-link-up":
      return `set link up on ${step.device}`;
    case "set-mtu":
      return `set mtu ${change(step)} on ${interfaceOf(step)}`;
    case "set-queues":
      return `set queues ${change(step)} on ${interfaceOf(step)}`;
    case "create-subfunction":
      return `create ${interfaceOf(step)}`;
    case "set-subfunction-mac":
      return `set mac on ${interfaceOf(step)}`;
    case "activate-subfunction":
      return `activate ${interfaceOf(step)}`;
    case "set-representor":
      return `set representor up${step.mtu === undefined ? "" : ` with mtu ${step.mtu}`} of ${interfaceOf(step)}`;
    case "connect-representor":
      return `connect representor of ${interfaceOf(step)} to bridge ${step.bridge}`;
    case "deactivate-subfunction":
      return `deactivate ${interfaceOf(step)}`;
    case "delete-subfunction":
      return `delete ${interfaceOf(step)}`;
    case "release-device":
      return `release ${step.device}`;
  }
}

/** Reports whether `step` needs the result of `failed`. */
export function isAfxdpStepBlockedBy(step: AfxdpStep, failed: AfxdpStep): boolean {
  if (step.device !== failed.device) return false;
  // Without its record, a device is never reset again.
  if (step.kind === "release-device") return true;
  if (failed.kind === "set-eswitch-mode") return true;
  // A change of the mode would remove the subfunctions that could not be removed one by one.
  if (step.kind === "set-eswitch-mode") {
    return failed.kind === "deactivate-subfunction" || failed.kind === "delete-subfunction";
  }
  return "sfNumber" in failed && "sfNumber" in step && failed.sfNumber === step.sfNumber && !isSetting(failed);
}

/** Settings do not depend on each other. */
function isSetting({ kind }: AfxdpStep): boolean {
  return kind === "set-mtu" || kind === "set-queues" || kind === "set-representor" || kind === "connect-representor";
}

/** "subfunction 3 of 0000:86:00.0". */
function interfaceOf({ device, sfNumber }: OnInterface): string {
  return sfNumber === undefined ? device : `subfunction ${sfNumber} of ${device}`;
}

function change({ from, to }: { readonly from?: number; readonly to: number }): string {
  return from === undefined ? `${to}` : `${from} -> ${to}`;
}
