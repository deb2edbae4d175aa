// SPDX-License-Identifier: Apache-2.0
/**
 * operations describes each method of the ports. All adapters use it, so the same error has the same text in each of them.
 */
import { dirname } from "node:path";
import type { HostOperation } from "./host-error.ts";
import { bootProgramDirectory } from "../ports/boot.ts";
import { formatFirmwareValues } from "../ports/firmware.ts";
import type { Host } from "../ports/host.ts";
import type { VfSetting } from "../ports/links.ts";

/** For each method of each port, a function from its arguments to the description of the operation. */
export type Operations = {
  readonly [Port in keyof Host]: {
    readonly [Method in keyof Host[Port]]: Host[Port][Method] extends (...args: infer Args) => unknown
      ? (...args: Args) => HostOperation
      : never;
  };
};

const bootProgramHome = dirname(bootProgramDirectory);

export const operations: Operations = {
  boot: {
    readBootId: () => ({ action: "read boot_id", target: "the kernel" }),
  },
  bootProgram: {
    readVersion: () => ({ action: "read version", target: bootProgramHome }),
    install: ({ id }) => ({ action: `install version ${id}`, target: bootProgramHome }),
    removeAll: () => ({ action: "remove all versions", target: bootProgramHome }),
  },
  sriov: {
    listPfs: () => ({ action: "list", target: "PCI functions" }),
    readPf: (pf) => ({ action: "read", target: pf }),
    setNumVfs: (pf, count) => ({ action: `set sriov_numvfs ${count}`, target: pf }),
    readBinding: (device) => ({ action: "read driver", target: device }),
    setDriverOverride: (device, driver) => ({
      action: driver === undefined ? "clear driver_override" : `set driver_override ${driver}`,
      target: device,
    }),
    bindDriver: (device, driver) => ({ action: `bind driver ${driver}`, target: device }),
    unbindDriver: (device) => ({ action: "unbind driver", target: device }),
    probeDrivers: (device) => ({ action: "probe drivers", target: device }),
  },
  links: {
    listLinks: () => ({ action: "list", target: "network interfaces" }),
    readSpeedMbps: (name) => ({ action: "read speed", target: name }),
    setMtu: (name, mtu) => ({ action: `set mtu ${mtu}`, target: name }),
    setAdminUp: (name, up) => ({ action: `set link ${up ? "up" : "down"}`, target: name }),
    readFeature: (name, feature) => ({ action: `read feature ${feature}`, target: name }),
    setFeature: (name, feature, on) => ({ action: `turn ${on ? "on" : "off"} ${feature}`, target: name }),
    setVfMac: (pfName, vfId, mac) => ({ action: `set vf ${vfId} mac ${mac}`, target: pfName }),
    setVf: (pfName, vfId, setting) => ({ action: `set vf ${vfId} ${wordsOf(setting)}`, target: pfName }),
  },
  routes: {
    listDefaultRouteLinks: () => ({ action: "list", target: "default routes" }),
    listConnectedNetworks: () => ({ action: "list", target: "connected networks" }),
    listRouteLinks: (address) => ({ action: "look up route", target: address }),
  },
  connectivity: {
    listGateways: () => ({ action: "list", target: "gateways of default routes" }),
    readAnswer: (address, port) => ({ action: `connect to TCP port ${port}`, target: address }),
    readNeighbourAnswer: ({ address }) => ({ action: "ask neighbour", target: address }),
  },
  linuxBridges: {
    listBridges: () => ({ action: "list", target: "Linux bridges" }),
    createBridge: (name) => ({ action: "create Linux bridge", target: name }),
    setVlans: (name, { filtering, protocol }) => ({
      action: `set vlan_filtering ${filtering ? 1 : 0} vlan_protocol ${protocol}`,
      target: name,
    }),
    addPort: (name, port) => ({ action: `add port ${port}`, target: name }),
    removePort: (name, port) => ({ action: `remove port ${port}`, target: name }),
    setPort: (_name, port, settings) => ({
      action: `set ${Object.entries(settings).flat().join(" ")}`,
      target: `bridge port ${port}`,
    }),
    setAdminUp: (name, up) => ({ action: `set link ${up ? "up" : "down"}`, target: name }),
    deleteBridge: (name) => ({ action: "delete Linux bridge", target: name }),
  },
  devlink: {
    readEswitchMode: (pf) => ({ action: "read eswitch mode", target: pf }),
    setEswitchMode: (pf, mode) => ({ action: `set eswitch mode ${mode}`, target: pf }),
    readParameter: (pf, name) => ({ action: `read parameter ${name}`, target: pf }),
    listHealthReporters: (pf) => ({ action: "list health reporters", target: pf }),
    setParameter: (pf, name, value) => ({ action: `set parameter ${name} ${value}`, target: pf }),
  },
  subfunctions: {
    list: () => ({ action: "list", target: "subfunctions" }),
    readLimit: (pf) => ({ action: "read number of subfunctions", target: pf }),
    create: (pf, sfNumber) => ({ action: `create subfunction ${sfNumber}`, target: pf }),
    setMac: (pf, portIndex, mac) => ({ action: `set port ${portIndex} mac ${mac}`, target: pf }),
    setActive: (pf, portIndex, active) => ({
      action: `set port ${portIndex} state ${active ? "active" : "inactive"}`,
      target: pf,
    }),
    enableEthernet: (device) => ({ action: "enable the network interface", target: device }),
    remove: (pf, portIndex) => ({ action: `remove port ${portIndex}`, target: pf }),
  },
  xdp: {
    listFeatures: () => ({ action: "list", target: "XDP features" }),
    readDevice: (name) => ({ action: "read device", target: name }),
    readPrograms: (name) => ({ action: "read XDP programs", target: name }),
    detachOwnPrograms: (name) => ({ action: "detach XDP program", target: name }),
    listOwnMaps: () => ({ action: "list", target: "XSK maps" }),
    removeOwnMap: (name) => ({ action: "remove XSK map", target: name }),
    readQueues: (name) => ({ action: "read queues", target: name }),
    setQueues: (name, count) => ({ action: `set queues ${count}`, target: name }),
  },
  pluginLeftovers: {
    listDevices: () => ({ action: "list", target: "devices of the plugin of upstream" }),
    removeDevice: (device) => ({ action: "remove record of device of the plugin of upstream", target: device }),
    readUse: (name) => ({ action: "read XDP programs and AF_XDP sockets", target: name }),
    detachProgram: (name, id) => ({ action: `detach XDP program ${id}`, target: name }),
    listFiles: (pool) => ({ action: "list files of the plugin of upstream", target: `pool ${pool}` }),
    removeMount: (path) => ({ action: "unmount and remove", target: path }),
    removeSocket: (path) => ({ action: "remove socket", target: path }),
    removeDirectories: () => ({ action: "remove empty directories", target: "the plugin of upstream" }),
  },
  rdma: {
    readMode: () => ({ action: "read RDMA mode", target: "the kernel" }),
    setMode: (mode) => ({ action: `set RDMA mode ${mode}`, target: "the kernel" }),
    listDevices: () => ({ action: "list", target: "RDMA devices" }),
    setVfGuid: (pfName, vfId, guid) => ({ action: `set vf ${vfId} guid ${guid}`, target: pfName }),
  },
  vdpa: {
    listManagementDevices: () => ({ action: "list", target: "vDPA management devices" }),
    listDevices: () => ({ action: "list", target: "vDPA devices" }),
    addDevice: ({ name, management, maxVirtqueuePairs }) => ({
      action: `add vDPA device ${name}${maxVirtqueuePairs === undefined ? "" : ` with ${maxVirtqueuePairs} queue pairs`}`,
      target: management.device,
    }),
    removeDevice: (name) => ({ action: "remove vDPA device", target: name }),
    setDriverOverride: (name, driver) => ({
      action: driver === undefined ? "clear driver_override" : `set driver_override ${driver}`,
      target: name,
    }),
    bindDriver: (name, driver) => ({ action: `bind driver ${driver}`, target: name }),
    unbindDriver: (name) => ({ action: "unbind driver", target: name }),
  },
  udev: {
    settle: ({ timeoutMs }) => ({ action: `settle within ${timeoutMs} ms`, target: "udev" }),
    reloadRules: () => ({ action: "reload rules", target: "udev" }),
  },
  modules: {
    load: (module) => ({ action: "load kernel module", target: module }),
    enableNoIommu: () => ({ action: "enable no-IOMMU mode", target: "vfio" }),
  },
  firmware: {
    readLockdown: () => ({ action: "read lockdown mode", target: "the kernel" }),
    readSettings: (pf) => ({ action: "read firmware settings", target: pf }),
    readPrivilege: (pf) => ({ action: "read privilege level of the host", target: pf }),
    setValues: (pf, values) => ({ action: `set firmware settings ${formatFirmwareValues(values)}`, target: pf }),
    resetCard: (pf) => ({ action: "reset firmware", target: pf }),
  },
  configDrive: {
    readText: (path) => ({ action: `read ${path}`, target: "the config drive" }),
  },
  records: {
    list: () => ({ action: "list", target: "PF records" }),
    save: (pf) => ({ action: "save record", target: pf }),
    remove: (pf) => ({ action: "remove record", target: pf }),
  },
  afxdpRecords: {
    list: () => ({ action: "list", target: "records of AF_XDP devices" }),
    save: (device) => ({ action: "save record of AF_XDP device", target: device }),
    remove: (device) => ({ action: "remove record of AF_XDP device", target: device }),
  },
  files: {
    listNames: (directory) => ({ action: "list", target: directory }),
    readKind: (path) => ({ action: "stat", target: path }),
    readText: (path) => ({ action: "read", target: path }),
    readLink: (path) => ({ action: "read link", target: path }),
    writeText: (path) => ({ action: "write", target: path }),
    remove: (path) => ({ action: "remove", target: path }),
  },
  systemd: {
    readUnit: (name) => ({ action: "read unit", target: name }),
    restartUnit: (name) => ({ action: "restart unit", target: name }),
    stopUnit: (name) => ({ action: "stop unit", target: name }),
    enableUnits: (names) => ({ action: "enable units", target: names.join(" ") }),
    disableUnits: (names) => ({ action: "disable units", target: names.join(" ") }),
    reload: () => ({ action: "reload", target: "systemd" }),
    reboot: () => ({ action: "reboot", target: "the node" }),
  },
  ovs: {
    readState: () => ({ action: "read bridges", target: "Open vSwitch" }),
    setBridge: ({ name, uplink }) => ({ action: `set bridge with uplink ${uplink.name}`, target: name }),
    addPort: (bridge, port) => ({ action: `add port ${port}`, target: bridge }),
    removeBridge: (name) => ({ action: "remove bridge", target: name }),
    removePorts: (bridge, ports) => ({ action: `remove ports ${ports.join(", ")}`, target: bridge }),
    adoptBridge: ({ name }) => ({ action: "adopt bridge", target: name }),
    setHardwareOffload: () => ({ action: "set other_config:hw-offload", target: "Open vSwitch" }),
    watch: () => ({ action: "watch", target: "Open vSwitch" }),
  },
  kernelArguments: {
    readRunning: () => ({ action: "read kernel arguments", target: "the kernel" }),
    readMachine: () => ({ action: "read CPU vendor and IOMMU", target: "the kernel" }),
    readBootLoader: () => ({ action: "look up boot loader", target: "the node" }),
    readNext: () => ({ action: "read kernel arguments", target: "the boot loader" }),
    setNext: ({ add, remove }) => ({
      action: `set kernel arguments (${[...add, ...remove.map((argument) => `not ${argument}`)].join(", ")})`,
      target: "the boot loader",
    }),
  },
  events: {
    watch: () => ({ action: "watch", target: "kernel events" }),
  },
  kernelLog: {
    readPosition: () => ({ action: "read position", target: "the kernel log" }),
    readLines: ({ device }) => ({ action: `read lines of ${device}`, target: "the kernel log" }),
  },
};

/** As `ip link set … vf` has them. */
function wordsOf(setting: VfSetting): string {
  if ("vlan" in setting) return `vlan ${setting.vlan} qos ${setting.qos} proto ${setting.protocol}`;
  if ("minTxRate" in setting) return `min_tx_rate ${setting.minTxRate} max_tx_rate ${setting.maxTxRate}`;
  if ("linkState" in setting) return `state ${setting.linkState}`;
  if ("trust" in setting) return `trust ${setting.trust ? "on" : "off"}`;
  return `spoofchk ${setting.spoofCheck ? "on" : "off"}`;
}
