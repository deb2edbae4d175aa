// SPDX-License-Identifier: Apache-2.0
/**
 * Access to the host: ports for PCI functions, network interfaces, udev, kernel modules, records and files, their Linux
 * adapters, HostError, and the lock of the node.
 */
export { HostError, type HostOperation } from "./calls/host-error.ts";
export { bindDefault, bindTo, hasKernelDriver, rebindDefault, type BindTarget } from "./calls/bind-driver.ts";
export { watchCalls, type WatchedCalls } from "./calls/wrap-ports.ts";
export { isAfxdpInterfaceSpec, parseAfxdpDevice } from "./linux/records/afxdp-record-file.ts";
export { createLinuxHost, type LinuxHostOptions } from "./linux/linux-host.ts";
export { createLinuxPfRecords, type LinuxPfRecordsOptions } from "./linux/records/linux-records.ts";
export type { UnreadableRecord } from "./linux/records/record-directory.ts";
export { createLinuxHostFiles } from "./linux/system/linux-host-files.ts";
export { defaultStateDirectory } from "./linux/system/host-paths.ts";
export { runBelowRoot } from "./linux/system/run-program.ts";
export { acquireNodeLock, type NodeLockOptions } from "./linux/system/node-lock.ts";
export type { AfxdpRecord, AfxdpRecords, FirmwareRecord, InitialVf, PfRecord, PfRecords } from "./ports/records.ts";
export {
  bootProgramDirectory,
  type BootProgram,
  type ProgramFile,
  type ProgramVersion,
  type Boot,
} from "./ports/boot.ts";
export type { ConfigDrive, FileKind, HostFiles } from "./ports/host-files.ts";
export type {
  Devlink,
  EswitchMode,
  Subfunction,
  Subfunctions,
  Rdma,
  HealthReporter,
  RdmaDevice,
  RdmaMode,
  NewVdpaDevice,
  Vdpa,
  VdpaDevice,
  VdpaManagement,
  VdpaManagementDevice,
} from "./ports/devices.ts";
export type {
  Firmware,
  FirmwareSetting,
  FirmwareSettingName,
  FirmwareSettings,
  FirmwareValues,
  HostPrivilege,
  LockdownMode,
} from "./ports/firmware.ts";
export type { Host } from "./ports/host.ts";
export type {
  BootEntry,
  BootLoader,
  KernelArguments,
  KernelEvent,
  KernelEvents,
  KernelLog,
  KernelModules,
} from "./ports/kernel.ts";
export type { ObservedLinuxBridge, LinuxBridges } from "./ports/linux-bridges.ts";
export type { Routes, Link, LinkFeature, Links, LinkVf, VfSetting } from "./ports/links.ts";
export {
  isPfBridgeName,
  reservedOvsKeys,
  type Ovs,
  type ObservedOvsBridge,
  type OvsBridgeSettings,
  type OvsEvent,
  type ObservedOvsPort,
  type OvsState,
  type OvsUplinkSettings,
} from "./ports/ovs.ts";
export type {
  AttachedProgram,
  PluginFiles,
  PluginLeftovers,
  UpstreamDevice,
  XdpUse,
} from "./ports/plugin-leftovers.ts";
export type { PciBinding, SysfsPf, SriovSysfs, SysfsVf } from "./ports/sriov-sysfs.ts";
export type { Systemd, UnitState, Udev } from "./ports/system-services.ts";
export type { NetDevice, Queues, Xdp, XdpFeatures, XdpProgram } from "./ports/xdp.ts";
