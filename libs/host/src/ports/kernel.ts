// SPDX-License-Identifier: Apache-2.0

/** KernelModules is the port for kernel modules. */
export interface KernelModules {
  /**
   * Loads the module unless it is loaded. Rejects with HostError MODPROBE_FAILED, with the output of modprobe in `words`, and
   * EINVAL if `module` cannot be the name of a module.
   */
  load(module: string): Promise<void>;
  /**
   * Lets vfio-pci bind functions without an IOMMU, which a virtual machine often lacks. Loads vfio. Changes nothing if the
   * machine has an IOMMU. ENOENT if the kernel does not support it (CONFIG_VFIO_NOIOMMU).
   */
  enableNoIommu(): Promise<void>;
}

/**
 * KernelEvents is the port for notifications of the kernel, which make polling unnecessary.
 * A hint that something changed. The new state must be read by another port.
 */
export type KernelEvent =
  /**
   * An interface was added, removed or changed (rtnetlink). `parent` is as in Link. It is absent for virtual interfaces, which
   * containers add and remove.
   */
  | { readonly kind: "link"; readonly name: string; readonly parent?: { readonly bus: string; readonly name: string } }
  /** A PCI function or its driver changed (uevent): action "add", "remove", "bind", "unbind", "change". */
  | { readonly kind: "pci"; readonly action: string; readonly pciAddress: string }
  /** An RDMA device was added, removed or changed (uevent): action "add", "remove", "change"; `name` is "mlx5_0". */
  | { readonly kind: "rdma"; readonly action: string; readonly name: string }
  /** Events were lost (ENOBUFS): anything may have changed. */
  | { readonly kind: "overrun" };

export interface KernelEvents {
  /**
   * Returns the events from the moment of the call. The iterator ends without an error when `signal` aborts, and rejects with
   * HostError if the kernel ends the events. Throws HostError if the kernel does not deliver events.
   */
  watch(signal: AbortSignal): AsyncIterable<KernelEvent>;
}

/** KernelLog is the port for what drivers write to the kernel log. It explains errors: where it cannot be read, it is empty. */
export interface KernelLog {
  /** Returns the position after the last line. */
  readPosition(): Promise<number>;
  /** Returns the lines after a position that contain the PCI address, oldest first: "ice 0000:18:00.0: Only 12 MSI-X …". */
  readLines(which: { readonly after: number; readonly device: string }): Promise<readonly string[]>;
}

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
  /** Parameter enable_unsafe_noiommu_mode of vfio, or its value when vfio will be loaded; absent if it is off. */
  readonly noIommuMode?: true;
}

export interface ArgumentChange {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

/** The file of Switchyard's arguments for update-grub. */
export const grubFile = "/etc/default/grub.d/90-switchyard.cfg";
