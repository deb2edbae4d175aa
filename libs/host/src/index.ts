// SPDX-License-Identifier: Apache-2.0
/**
 * Access to the host: ports for PCI functions, network interfaces, udev, kernel modules, records and files, their Linux
 * adapters, HostError, and the lock of the node.
 */
export { HostError, type HostOperation } from "./calls/host-error.ts";
export { watchCalls, type WatchedCalls } from "./calls/watch-calls.ts";
export { isAfxdpInterfaceSpec, parseAfxdpDevice } from "./linux/afxdp-record-file.ts";
export { createLinuxHost, type LinuxHostOptions } from "./linux/linux-host.ts";
export { createLinuxPfRecords, type LinuxPfRecordsOptions } from "./linux/linux-pf-records.ts";
export type { UnreadableRecord } from "./linux/record-directory.ts";
export { acquireNodeLock, type NodeLockOptions } from "./linux/node-lock.ts";
export type { AfxdpRecord, AfxdpRecords } from "./ports/afxdp-records.ts";
export { bootProgramDirectory, type BootProgram, type ProgramFile, type ProgramVersion } from "./ports/boot-program.ts";
export type { Boot } from "./ports/boot.ts";
export type { ConfigDrive } from "./ports/config-drive.ts";
export type { Devlink, EswitchMode } from "./ports/devlink.ts";
export type { FileKind, HostFiles } from "./ports/host-files.ts";
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
export type { BootEntry, BootLoader, KernelArguments } from "./ports/kernel-arguments.ts";
export type { KernelEvent, KernelEvents } from "./ports/kernel-events.ts";
export type { KernelModules } from "./ports/kernel-modules.ts";
export type { LinuxBridgeFacts, LinuxBridges } from "./ports/linux-bridges.ts";
export type { Routes } from "./ports/routes.ts";
export type { Link, LinkFeature, Links, LinkVf } from "./ports/links.ts";
export {
  isPfBridgeName,
  reservedOvsKeys,
  type Ovs,
  type OvsBridgeFacts,
  type OvsBridgeSettings,
  type OvsEvent,
  type OvsPortFacts,
  type OvsState,
  type OvsUplinkSettings,
} from "./ports/ovs.ts";
export type { FirmwareRecord, PfRecord, PfRecords } from "./ports/pf-records.ts";
export type {
  AttachedProgram,
  PluginFiles,
  PluginLeftovers,
  UpstreamDevice,
  XdpUse,
} from "./ports/plugin-leftovers.ts";
export type { Rdma, RdmaDevice, RdmaMode } from "./ports/rdma.ts";
export type { PciBinding, PfFacts, SriovSysfs, VfFacts } from "./ports/sriov-sysfs.ts";
export type { Subfunction, Subfunctions } from "./ports/subfunctions.ts";
export type { Systemd, UnitState } from "./ports/systemd.ts";
export type { Udev } from "./ports/udev.ts";
export type { NewVdpaDevice, Vdpa, VdpaDevice, VdpaManagement, VdpaManagementDevice } from "./ports/vdpa.ts";
export type { NetDevice, Queues, Xdp, XdpFeatures, XdpProgram } from "./ports/xdp.ts";
