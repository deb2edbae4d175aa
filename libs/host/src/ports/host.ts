// SPDX-License-Identifier: Apache-2.0
/**
 * Host is the set of all ports of one host. createLinuxHost() implements it for Linux, and `@switchyard/host/testing` contains
 * a fake kernel.
 */
import type { AfxdpRecords } from "./afxdp-records.ts";
import type { BootProgram } from "./boot-program.ts";
import type { Boot } from "./boot.ts";
import type { ConfigDrive } from "./config-drive.ts";
import type { Devlink } from "./devlink.ts";
import type { Firmware } from "./firmware.ts";
import type { HostFiles } from "./host-files.ts";
import type { KernelArguments } from "./kernel-arguments.ts";
import type { KernelEvents } from "./kernel-events.ts";
import type { KernelModules } from "./kernel-modules.ts";
import type { Links } from "./links.ts";
import type { LinuxBridges } from "./linux-bridges.ts";
import type { Ovs } from "./ovs.ts";
import type { PfRecords } from "./pf-records.ts";
import type { PluginLeftovers } from "./plugin-leftovers.ts";
import type { Rdma } from "./rdma.ts";
import type { Routes } from "./routes.ts";
import type { SriovSysfs } from "./sriov-sysfs.ts";
import type { Subfunctions } from "./subfunctions.ts";
import type { Systemd } from "./systemd.ts";
import type { Udev } from "./udev.ts";
import type { Vdpa } from "./vdpa.ts";
import type { Xdp } from "./xdp.ts";

export interface Host {
  readonly boot: Boot;
  readonly bootProgram: BootProgram;
  readonly sriov: SriovSysfs;
  readonly links: Links;
  readonly routes: Routes;
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
}
