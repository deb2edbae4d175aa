// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxHost implements all ports for the host on which the process runs. Files are read below a root directory. Network
 * interfaces are those of the network namespace of the process, which is the host's in a pod with hostNetwork.
 * Usage: `await using host = createLinuxHost("/host", { onUnreadableRecord })`.
 */
import { NetlinkSocket, protocols } from "@switchyard/netlink";
import { withHostError } from "../calls/host-error.ts";
import { operations } from "../calls/operations.ts";
import type { Host } from "../ports/host.ts";
import type { PluginLeftovers } from "../ports/plugin-leftovers.ts";
import { createLinuxBoot, createLinuxBootProgram } from "./boot/linux-boot.ts";
import { createLinuxConnectivity } from "./system/linux-connectivity.ts";
import { createLinuxConfigDrive } from "./system/linux-config-drive.ts";
import { createLinuxDevlink } from "./devices/linux-devlink.ts";
import { createLinuxFirmware } from "./firmware/linux-firmware.ts";
import { createLinuxHostFiles } from "./system/linux-host-files.ts";
import { createLinuxKernelArguments } from "./boot/linux-kernel-arguments.ts";
import { createLinuxKernelEvents } from "./devices/linux-kernel-events.ts";
import { createLinuxKernelLog } from "./devices/linux-kernel-log.ts";
import { createLinuxKernelModules } from "./system/linux-kernel-modules.ts";
import { createLinuxLinks, createLinuxRoutes } from "./devices/linux-links.ts";
import { createKernelBridges } from "./devices/kernel-bridges.ts";
import { createLinuxRdma } from "./devices/linux-rdma.ts";
import { createLinuxAfxdpRecords, createLinuxPfRecords } from "./records/linux-records.ts";
import { createLinuxSriovSysfs } from "./devices/linux-sriov-sysfs.ts";
import { createLinuxSubfunctions } from "./devices/linux-subfunctions.ts";
import { createLinuxSystemd } from "./system/linux-systemd.ts";
import { createLinuxUdev } from "./system/linux-udev.ts";
import { createLinuxVdpa } from "./devices/linux-vdpa.ts";
import { createLinuxXdp } from "./devices/linux-xdp.ts";
import { createLinuxOvs } from "./ovs/linux-ovs.ts";
import type { UnreadableRecord } from "./records/record-directory.ts";
import type { LeftoverDeps } from "./upstream-plugin/leftovers-on-linux.ts";
import { upstreamDeviceRecords } from "./upstream-plugin/upstream-device-record.ts";

export interface LinuxHostOptions {
  /** Called for each file that is not a valid record. */
  readonly onUnreadableRecord: (file: UnreadableRecord) => void;
  /** Address of the database of Open vSwitch. If absent, software bridges are not managed. */
  readonly ovsdbAddress?: string | undefined;
  /** Directory of the records and of other files of the state; /etc/sriov-operator by default. See hostPaths(). */
  readonly stateDirectory?: string | undefined;
}

/** `root` is "/" or "/host". Disposing of the host waits for running requests. */
export function createLinuxHost(root: string, options: LinuxHostOptions): Host & AsyncDisposable {
  const { stateDirectory } = options;
  const resources = new AsyncDisposableStack();
  const open = (protocol: number) => resources.use(new NetlinkSocket({ protocol }));
  const route = open(protocols.route);
  const generic = open(protocols.generic);
  // A change can take a second for each VF of the PF. A longer one is reported as hanging before it ends.
  const openForChange = () => new NetlinkSocket({ protocol: protocols.generic, timeoutMs: 600_000 });
  const openAndKeep = () => resources.use(openForChange());
  const xdp = createLinuxXdp({ root, socket: route, genericSocket: generic });
  const systemd = createLinuxSystemd(root);
  return {
    // Not below `root`: other processes compare this id with the one that they read without a mount of the host.
    boot: createLinuxBoot("/"),
    bootProgram: createLinuxBootProgram(root),
    sriov: createLinuxSriovSysfs(root),
    links: createLinuxLinks({ root, socket: route, genericSocket: generic }),
    routes: createLinuxRoutes(route),
    connectivity: createLinuxConnectivity(route),
    linuxBridges: createKernelBridges(route),
    devlink: createLinuxDevlink({ socket: generic, openSocket: openForChange }),
    subfunctions: createLinuxSubfunctions({ root, socket: generic, openSocket: openAndKeep }),
    xdp,
    pluginLeftovers: createLinuxPluginLeftovers({
      root,
      socket: route,
      xdp,
      systemd,
      onUnreadable: options.onUnreadableRecord,
      openDiagnosis: () => new NetlinkSocket({ protocol: protocols.sockDiag }),
    }),
    rdma: createLinuxRdma({ root, openSocket: () => new NetlinkSocket({ protocol: protocols.rdma }), route }),
    vdpa: createLinuxVdpa({ root, socket: generic }),
    udev: createLinuxUdev(root),
    modules: createLinuxKernelModules(root),
    firmware: createLinuxFirmware({ root }),
    configDrive: createLinuxConfigDrive(root),
    records: createLinuxPfRecords(root, { onUnreadable: options.onUnreadableRecord, stateDirectory }),
    afxdpRecords: createLinuxAfxdpRecords(root, { onUnreadable: options.onUnreadableRecord, stateDirectory }),
    files: createLinuxHostFiles(root, stateDirectory),
    systemd,
    ovs: resources.use(createLinuxOvs({ root, address: options.ovsdbAddress })),
    kernelArguments: createLinuxKernelArguments(root),
    events: createLinuxKernelEvents(),
    kernelLog: createLinuxKernelLog(root),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

interface LinuxPluginLeftoversDeps extends LeftoverDeps {
  /** Called for each file that is not a record whenever the devices are listed. */
  readonly onUnreadable: (file: UnreadableRecord) => void;
}

/**
 * createLinuxPluginLeftovers implements PluginLeftovers. Most hosts never had the plugin, so everything but the list of devices
 * is loaded when it is needed.
 */
export function createLinuxPluginLeftovers({ onUnreadable, ...deps }: LinuxPluginLeftoversDeps): PluginLeftovers {
  const { pluginLeftovers: at } = operations;
  const records = upstreamDeviceRecords(deps.root, onUnreadable);
  const load = async () => (await import("./upstream-plugin/leftovers-on-linux.ts")).createLeftovers(deps);
  return {
    listDevices: () => withHostError(at.listDevices(), async () => [...(await records.list()).values()]),
    removeDevice: async (device) => (await load()).removeDevice(device),
    readUse: async (name) => (await load()).readUse(name),
    detachProgram: async (name, id) => (await load()).detachProgram(name, id),
    listFiles: async (pool) => (await load()).listFiles(pool),
    removeMount: async (path) => (await load()).removeMount(path),
    removeSocket: async (path) => (await load()).removeSocket(path),
    removeDirectories: async () => (await load()).removeDirectories(),
  };
}
