// SPDX-License-Identifier: Apache-2.0
/**
 * The steps that a plan is made of: plain data, one file per kind of step in apps/config-daemon/src/steps.
 * VFs are named by their PF and index, since most do not exist yet when the plan is made.
 */

/** One act on the host. */
export type Step = LoadModule | PfStep;

/** An act on one PF or its VFs. `pciAddress` is the PF's. */
export type PfStep = SetPfMtu | SetLinkUp | SetNumVfs | BindDriver | SetVfMac | SetVfMtu | ReleasePf;

/** Loads a kernel module, such as vfio-pci. */
export interface LoadModule {
  readonly kind: "load-module";
  readonly module: string;
}

/** Sets the PF's MTU in bytes: raises it to what the spec asks, or restores what it was before us. */
export interface SetPfMtu {
  readonly kind: "set-pf-mtu";
  readonly pciAddress: string;
  readonly from: number;
  readonly to: number;
}

/** Creates or removes VFs. From one non-zero count to another all VFs go first: the kernel allows nothing else. */
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
  /** Driver it has now; absent where it has none or does not exist yet. */
  readonly from?: string;
  /** Name of a driver, or "default" for the one that the kernel chooses. */
  readonly to: string;
}

/** Makes the VF's present MAC address its administrative one, so that it survives a rebind. */
export interface SetVfMac {
  readonly kind: "set-vf-mac";
  readonly pciAddress: string;
  readonly vfId: number;
  /** Bind the driver anew after it: an RDMA device takes its GUID from the address when it is made. */
  readonly rebind?: true;
}

/** Sets the MTU in bytes of a VF's interface. */
export interface SetVfMtu {
  readonly kind: "set-vf-mtu";
  readonly pciAddress: string;
  readonly vfId: number;
  /** Absent where the VF does not exist yet. */
  readonly from?: number;
  readonly to: number;
}

/** Sets the PF's link up. */
export interface SetLinkUp {
  readonly kind: "set-link-up";
  readonly pciAddress: string;
}

/** Gives up the ownership of a PF that left the spec, after it was reset. */
export interface ReleasePf {
  readonly kind: "release-pf";
  readonly pciAddress: string;
}

/** The step in words: "set sriov_numvfs 0 -> 8 on 0000:3b:00.0". */
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
      return `keep the MAC address of ${vfOf(step)}`;
    case "set-vf-mtu":
      return `set mtu ${step.from === undefined ? "" : `${step.from} -> `}${step.to} on ${vfOf(step)}`;
    case "release-pf":
      return `give up ${step.pciAddress}`;
  }
}

/** "VF 3 of 0000:3b:00.0". */
function vfOf(step: { readonly pciAddress: string; readonly vfId: number }): string {
  return `VF ${step.vfId} of ${step.pciAddress}`;
}
