// SPDX-License-Identifier: Apache-2.0
/**
 * The steps that a plan is made of: plain data, one file per kind of step in apps/config-daemon/src/steps.
 * VFs are named by their PF and index, since most do not exist yet when the plan is made.
 */

/** One act on the host. `pciAddress` is the PF's, except in load-module, which has none. */
export type Step = LoadModule | SetPfMtu | SetNumVfs | BindDriver | SetVfMac | SetVfMtu | SetLinkUp | ReleasePf;

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
