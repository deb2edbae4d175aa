// SPDX-License-Identifier: Apache-2.0
/**
 * KernelArguments is the port for the arguments of the kernel: those of the running kernel, and those that the boot loader will
 * pass at the next boot. Rejects with HostError only.
 */
export interface KernelArguments {
  /** Returns the arguments of the running kernel, in their order. */
  readRunning(): Promise<readonly string[]>;
  /** Returns the vendor of the CPUs, and whether an IOMMU is active. */
  readMachine(): Promise<Machine>;
  /** Returns which program configures the arguments; undefined if the host has none that is known. */
  readBootLoader(): Promise<BootLoader | undefined>;
  /**
   * Returns the boot entries of this system. It can run a program for seconds. EOPNOTSUPP without a known boot loader,
   * BOOT_LOADER_FAILED with the output of the program in `words`, ETIMEDOUT.
   */
  readNext(): Promise<readonly BootEntry[]>;
  /**
   * Adds and removes arguments of all boot entries. It can be repeated. Errors as of readNext, EROFS and ENOSPC, and EINVAL for
   * a text that is not a plain argument.
   */
  setNext(change: ArgumentChange): Promise<void>;
}

/**
 * Program that configures kernel arguments: grubby (RHEL and its relatives), rpm-ostree (systems with an OSTree), update-grub
 * (Debian and Ubuntu).
 */
export type BootLoader = "grubby" | "rpm-ostree" | "update-grub";

/** One kernel that the boot loader offers. */
export interface BootEntry {
  /** As the menu shows it. */
  readonly title: string;
  readonly arguments: readonly string[];
}

export interface Machine {
  readonly cpuVendor: "intel" | "amd" | "other";
  readonly iommu: boolean;
}

export interface ArgumentChange {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

/** The file of Switchyard's arguments for update-grub. */
export const grubFile = "/etc/default/grub.d/90-switchyard.cfg";
