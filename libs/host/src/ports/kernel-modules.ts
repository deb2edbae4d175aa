// SPDX-License-Identifier: Apache-2.0
/** KernelModules is the port for kernel modules. */
export interface KernelModules {
  /**
   * Loads the module unless it is loaded. Rejects with HostError MODPROBE_FAILED, with the output of modprobe in `words`, and
   * EINVAL if `module` cannot be the name of a module.
   */
  load(module: string): Promise<void>;
}
