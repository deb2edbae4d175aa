// SPDX-License-Identifier: Apache-2.0
export { attempts, type Attempts } from "./attempts.ts";
export type { Devlink, EswitchMode } from "./devlink.ts";
export { HostError, isErrno } from "./host-error.ts";
export type { Host } from "./host.ts";
export type { KernelEvent, KernelEvents } from "./kernel-events.ts";
export type { KernelModules } from "./kernel-modules.ts";
export type { Link, Links, LinkVf } from "./links.ts";
export { createLinuxKernelModules } from "./linux-kernel-modules.ts";
export { createLinuxPfRecords, type LinuxPfRecordsOptions, type UnreadableRecord } from "./linux-pf-records.ts";
export { createLinuxSriovSysfs } from "./linux-sriov-sysfs.ts";
export { createLinuxUdev } from "./linux-udev.ts";
export { acquireNodeLock, type NodeLockOptions } from "./node-lock.ts";
export type { PfRecord, PfRecords } from "./pf-records.ts";
export type { PfFacts, SriovSysfs, VfFacts } from "./sriov-sysfs.ts";
export type { Udev } from "./udev.ts";
