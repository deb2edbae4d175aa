// SPDX-License-Identifier: Apache-2.0
/**
 * Defines the steps of a plan. They are plain data; apps/config-daemon/src/steps has one file per kind of step.
 * A step names a VF by its PF and index, because most VFs do not exist when the plan is made.
 */

/** One change on the host. */
export type Step = LoadModule | PfStep;

/** A change of one PF or its VFs. `pciAddress` is the address of the PF. */
export type PfStep = SetPfMtu | SetLinkUp | SetNumVfs | BindDriver | SetVfMac | SetVfMtu | ReleasePf;

/** Loads a kernel module, such as vfio-pci. */
export interface LoadModule {
  readonly kind: "load-module";
  readonly module: string;
}

/** Sets the MTU of the PF in bytes: raises it to the requested value, or restores the value before the first configuration. */
export interface SetPfMtu {
  readonly kind: "set-pf-mtu";
  readonly pciAddress: string;
  readonly from: number;
  readonly to: number;
}

/** Creates or removes VFs. A change between two non-zero numbers removes all VFs first, because the kernel requires it. */
export interface SetNumVfs {
  readonly kind: "set-num-vfs";
  readonly pciAddress: string;
  readonly from: number;
  readonly to: number;
}

/** Binds a VF to a driver. */
export interface BindDriver {
  readonly kind: "bind-driver";
  readonly pciAddress: string;
  readonly vfId: number;
  /** Present driver; absent if the VF has none or does not exist yet. */
  readonly from?: string;
  /** Name of a driver, or "default" for the driver that the kernel chooses. */
  readonly to: string;
}

/** Sets the administrative MAC address of the VF to its present address, which then stays the same after a rebind. */
export interface SetVfMac {
  readonly kind: "set-vf-mac";
  readonly pciAddress: string;
  readonly vfId: number;
  /** Unbind and bind the driver afterwards: an RDMA device derives its GUID from the address when it is created. */
  readonly rebind?: true;
}

/** Sets the MTU in bytes of a VF's interface. */
export interface SetVfMtu {
  readonly kind: "set-vf-mtu";
  readonly pciAddress: string;
  readonly vfId: number;
  /** Absent if the VF does not exist yet. */
  readonly from?: number;
  readonly to: number;
}

/** Sets the PF's link up. */
export interface SetLinkUp {
  readonly kind: "set-link-up";
  readonly pciAddress: string;
}

/** Removes the record that Switchyard configured the PF, after the PF was reset. */
export interface ReleasePf {
  readonly kind: "release-pf";
  readonly pciAddress: string;
}

/** Returns the step as text: "set sriov_numvfs 0 -> 8 on 0000:3b:00.0". */
export function describeStep(step: Step): string {
  switch (step.kind) {
    case "load-module":
      return `load kernel module ${step.module}`;
    case "set-pf-mtu":
      return `set mtu ${step.from} -> ${step.to} on ${step.pciAddress}`;
    case "set-link-up":
      return `set link up on ${step.pciAddress}`;
    case "set-num-vfs":
      return `set sriov_numvfs ${step.from} -> ${step.to} on ${step.pciAddress}`;
    case "bind-driver":
      return `bind ${vfOf(step)} to ${step.to === "default" ? "its kernel driver" : step.to}${step.from === undefined ? "" : ` (from ${step.from})`}`;
    case "set-vf-mac":
      return `set administrative MAC address of ${vfOf(step)}`;
    case "set-vf-mtu":
      return `set mtu ${step.from === undefined ? "" : `${step.from} -> `}${step.to} on ${vfOf(step)}`;
    case "release-pf":
      return `release ${step.pciAddress}`;
  }
}

/** "VF 3 of 0000:3b:00.0". */
function vfOf(step: { readonly pciAddress: string; readonly vfId: number }): string {
  return `VF ${step.vfId} of ${step.pciAddress}`;
}
