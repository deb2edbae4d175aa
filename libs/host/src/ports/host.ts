// SPDX-License-Identifier: Apache-2.0
/**
 * Host is the set of all ports of one host. createLinuxHost() implements it for Linux, and `@switchyard/host/testing` contains
 * a fake kernel.
 */
import type { AfxdpRecords, PfRecords } from "./records.ts";
import type { Boot, BootProgram } from "./boot.ts";
import type { ConfigDrive, HostFiles } from "./host-files.ts";
import type { Connectivity } from "./connectivity.ts";
import type { Devlink, Rdma, Subfunctions, Vdpa } from "./devices.ts";
import type { Firmware } from "./firmware.ts";
import type { KernelArguments, KernelEvents, KernelLog, KernelModules } from "./kernel.ts";
import type { Links, Routes } from "./links.ts";
import type { LinuxBridges } from "./linux-bridges.ts";
import type { Ovs } from "./ovs.ts";
import type { PluginLeftovers } from "./plugin-leftovers.ts";
import type { SriovSysfs } from "./sriov-sysfs.ts";
import type { Systemd, Udev } from "./system-services.ts";
import type { Xdp } from "./xdp.ts";

export interface Host {
  readonly boot: Boot;
  readonly bootProgram: BootProgram;
  readonly sriov: SriovSysfs;
  readonly links: Links;
  readonly routes: Routes;
  readonly connectivity: Connectivity;
  readonly linuxBridges: LinuxBridges;
  readonly devlink: Devlink;
  readonly subfunctions: Subfunctions;
  readonly xdp: Xdp;
  readonly pluginLeftovers: PluginLeftovers;
  readonly rdma: Rdma;
  readonly vdpa: Vdpa;
  readonly udev: Udev;
  readonly modules: KernelModules;
  readonly firmware: Firmware;
  readonly configDrive: ConfigDrive;
  readonly records: PfRecords;
  readonly afxdpRecords: AfxdpRecords;
  readonly files: HostFiles;
  readonly systemd: Systemd;
  readonly ovs: Ovs;
  readonly kernelArguments: KernelArguments;
  readonly events: KernelEvents;
  readonly kernelLog: KernelLog;
}
