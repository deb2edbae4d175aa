// SPDX-License-Identifier: Apache-2.0
/**
 * Port: kernel modules.
 */

export interface KernelModules {
  /**
   * Loads the module unless it is there. Rejects with HostError MODPROBE_FAILED, `words` being modprobe's; EINVAL for what
   * cannot be the name of a module.
   */
  load(module: string): Promise<void>;
}
