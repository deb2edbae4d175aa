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
