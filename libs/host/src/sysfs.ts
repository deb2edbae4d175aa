// SPDX-License-Identifier: Apache-2.0
/**
 * The adapters that need neither netlink nor koffi, for small processes beside the daemon. It is the package's export
 * "@switchyard/host/sysfs".
 */
export type { Boot } from "./ports/boot.ts";
export type { PciBinding, SriovSysfs } from "./ports/sriov-sysfs.ts";
export { createLinuxBoot } from "./linux/boot/linux-boot.ts";
export { createLinuxSriovSysfs } from "./linux/devices/linux-sriov-sysfs.ts";
