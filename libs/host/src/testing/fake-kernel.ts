// SPDX-License-Identifier: Apache-2.0
/**
 * createFakeKernel simulates a kernel with NICs. All ports of its Host show the same state. It refuses what a real kernel
 * refuses, and udev names interfaces and loads drivers some time later. The contract suite (host-contract.ts) runs on the fake
 * kernel and on a real one.
 * Usage: `const kernel = createFakeKernel({ nics: [igb("0000:01:00.0")] }); const host = kernel.host();`
 */
import { randomUUID } from "node:crypto";
import { defined, type PciAddress } from "@switchyard/api";
import type { HostPrivilege, LockdownMode } from "../ports/firmware.ts";
import type { Host } from "../ports/host.ts";
import type { HostFiles } from "../ports/host-files.ts";
import type { BootLoader, KernelEvent, Machine } from "../ports/kernel.ts";
import type { VfSetting } from "../ports/links.ts";
import type { HealthReporter, RdmaMode } from "../ports/devices.ts";
import type { SriovSysfs } from "../ports/sriov-sysfs.ts";
import type { XdpProgram } from "../ports/xdp.ts";
import { systemKernelClock, type KernelClock } from "./clock.ts";
import { createQuirks, type DriverQuirks } from "./driver-quirks.ts";
import { createFakeBootLoader, createFakeBootProgram } from "./fake-boot.ts";
import { createFakeConnectivity } from "./fake-connectivity.ts";
import { createFakeEswitch } from "./fake-eswitch.ts";
import { createFakeEvents } from "./fake-events.ts";
import { createFakeFiles, type FakeFiles } from "./fake-files.ts";
import { createFakeFirmware } from "./fake-firmware.ts";
import { createFakeHost, type FakeWrite } from "./fake-host.ts";
import { createFakeLinuxBridges, newBridge } from "./fake-linux-bridges.ts";
import { changedBy, createFakeLinks, createSetVfGuid } from "./fake-links.ts";
import { createFakeModules, type FakeIommu } from "./fake-modules.ts";
import { createNetdevs, type Netdevs } from "./fake-netdevs.ts";
import type { AnyFunction, PfFunction } from "./fake-functions.ts";
import { createPciBus, type PciBus } from "./fake-pci.ts";
import { createFakeOvs, type FakeOvsByHand } from "./fake-ovs.ts";
import { createFakePluginLeftovers, type FakeLeftoversByHand } from "./fake-plugin-leftovers.ts";
import { createFakeRdma } from "./fake-rdma.ts";
import { createFakeAfxdpRecords, createFakeRecords } from "./fake-records.ts";
import { createFakeRoutes } from "./fake-routes.ts";
import { createFakeSriov } from "./fake-sriov.ts";
import { createFakeSubfunctions } from "./fake-subfunctions.ts";
import { createFakeSystemd } from "./fake-systemd.ts";
import { createFakeVdpa } from "./fake-vdpa.ts";
import { createFakeUdev } from "./fake-udev.ts";
import { createFakeXdp } from "./fake-xdp.ts";
import { answer, createFaults, Refusal, type Fault, type FaultEffect, type FaultMatch } from "./faults.ts";
import type { FakeNic } from "./nic-models.ts";

export interface FakeKernelOptions {
  readonly nics: readonly FakeNic[];
  /** The clock of the system by default. */
  readonly clock?: KernelClock;
  /** Machines with different numbers have different addresses of VFs; 1 by default. */
  readonly macSeed?: number;
  /** Duration of a change of the number of VFs; 0 by default. igb needs about 1,000 ms for four VFs. */
  readonly setNumVfsMs?: number;
  /** Time that udev needs for each event; 1 by default; "none" for a machine without udev. */
  readonly udevMs?: number | "none";
  /** Mode of the RDMA subsystem, which is not loaded by default. */
  readonly rdmaMode?: RdmaMode;
  /** Whether Open vSwitch runs and the daemon manages software bridges; false by default. */
  readonly managesOvs?: boolean;
  /** Whether the programs for the firmware of Mellanox cards are installed; true by default. */
  readonly firmwareTools?: boolean;
  /** Lockdown mode of the kernel; "none" by default. */
  readonly lockdown?: LockdownMode;
  /** Whether the machine has an IOMMU, which vfio-pci needs; true by default. "with-argument": only with intel_iommu=on. */
  readonly iommu?: boolean | "with-argument";
  /** Whether the kernel supports vfio without an IOMMU (CONFIG_VFIO_NOIOMMU); true by default. */
  readonly noIommuSupport?: boolean;
  /** Whether the administrator has enabled the no-IOMMU mode of vfio; false by default. */
  readonly isNoIommuOn?: boolean;
  /** Texts of the files on the config drive by their path; no drive by default. */
  readonly configDrive?: Readonly<Record<string, string>>;
  /** "intel" by default. */
  readonly cpuVendor?: Machine["cpuVendor"];
  /** Program that configures kernel arguments; "grubby" by default. */
  readonly bootLoader?: BootLoader | "none";
}

export interface FakeKernel {
  /** Returns the ports for a daemon. */
  host(): Host;
  /** All calls of the ports that change something, in the order of their start. */
  readonly writes: readonly FakeWrite[];
  fault(match: FaultMatch, effect: FaultEffect): Fault;
  /** The lines of the kernel log. */
  readonly log: readonly string[];
  /** Replaces the quirks of a PF. */
  setQuirks(pf: PciAddress, quirks: DriverQuirks): void;
  /** Makes the driver create no representor for this VF. */
  hideRepresentor(pf: PciAddress, vfId: number): void;
  /** Makes a health reporter of the driver of a PF report a state. */
  setHealth(pf: PciAddress, reporter: HealthReporter): void;
  /** Makes drivers fail on the devices of the subfunctions of the PF, so that these have no interface. */
  failSubfunctionProbe(pf: PciAddress): void;
  /** Makes drivers fail on the function with this errno; undefined ends this. */
  failProbe(device: PciAddress, code: string | undefined): void;
  /** Makes the next binds of the kernel's driver to the function create no interface, as iavf sometimes does; false ends this. */
  withholdInterface(device: PciAddress, isWithheld: boolean): void;
  /** Simulates the loss of events. */
  overrunEvents(): void;
  /** Returns how often the PF was reset and lost its carrier for a while. */
  countResets(pf: PciAddress): number;

  // Actions of administrators and of other programs.
  /** Actions with ovs-vsctl. */
  readonly ovs: FakeOvsByHand;
  /** Adds a NIC. Its interfaces are down. */
  plug(nic: FakeNic): void;
  unplug(device: PciAddress): void;
  unbindByHand(device: PciAddress): void;
  setNumVfsByHand(pf: PciAddress, count: number): Promise<void>;
  /** Changes a setting of a VF that the PF stores, as a CNI plugin does. */
  setVfByHand(pf: PciAddress, vfId: number, setting: VfSetting | { readonly mac: string }): void;
  /** Changes the interface of a VF, which can be in a pod. Without effect if it has none. */
  changeVfLinkByHand(
    vf: PciAddress,
    change: { readonly name?: string; readonly mac?: string; readonly mtu?: number; readonly promiscuous?: boolean },
  ): void;
  renameLink(name: string, newName: string): void;
  addAltName(name: string, altName: string): void;
  setPromiscuousByHand(name: string): void;
  /** Plugs the cable of a port in or out. The file `carrier` of its interface has 1 or 0 from then on. */
  setCarrierByHand(pf: PciAddress, hasCarrier: boolean): void;
  /** Adds a virtual interface, such as a "bridge", a "bond" or a "vlan", which is up. */
  addLinkByHand(name: string, kind: string, lower?: string): void;
  deleteLinkByHand(name: string): void;
  /** Actions of the plugins of upstream, and of programs on the host that use XDP. */
  readonly pluginLeftovers: FakeLeftoversByHand;
  /** Attaches an XDP program to an interface. */
  attachXdpProgram(name: string, program: XdpProgram): void;
  /** Detaches the program with this id, as another program does; without effect if it is not attached. */
  detachXdpProgram(name: string, id: number): void;
  /** Makes an interface a port of a bridge or bond, or independent. */
  setMasterByHand(name: string, master: string | undefined): void;
  /** Adds a route to "default" or to an address. */
  addRouteByHand(destination: string, name: string): void;
  removeRoutesByHand(): void;
  /** Makes an address answer nobody, as a server that is down; false ends this. */
  silenceByHand(address: string, isSilent: boolean): void;
  /** Moves the interface of a VF to a pod, where it is not visible on the host. */
  moveToPod(vf: PciAddress): void;
  returnFromPod(vf: PciAddress): void;
  /** Moves one interface to a pod, for example that of a subfunction, and returns a function that moves it back. */
  moveLinkToPod(name: string): () => void;
  /** Adds an RDMA device, and loads the RDMA subsystem. */
  addRdmaDevice(name: string): void;
  unloadRdmaByHand(): void;
  setRdmaModeByHand(mode: RdmaMode): void;
  /** Loads the simulator of vDPA management devices, "vdpasim_net". */
  loadVdpaSimulator(): void;
  /** Unloads the simulator and the drivers of vDPA devices. */
  unloadVdpaByHand(): void;
  /** Sets the current and the next value of firmware settings. */
  setFirmwareByHand(pf: PciAddress, values: Readonly<Record<string, number>>): void;
  /** Sets the privilege level of the host on a BlueField. */
  setHostPrivilegeByHand(pf: PciAddress, level: HostPrivilege): void;
  /** From now on, neither a reset nor a reboot changes the current firmware settings of the card. */
  freezeFirmware(pf: PciAddress): void;
  writeFile(path: string, text: string): void;
  linkFile(path: string, target: string): void;
  /** Returns the properties of an interface in the database of udev. */
  udevProperties(name: string): Readonly<Record<string, string>>;
  /** Returns the paths of all files and links, sorted, without the records of PFs. */
  listFiles(): readonly string[];
  /** The reason of each reboot that the daemon requested. The machine runs on until reboot(). */
  readonly requestedReboots: readonly string[];
  /** The kernel arguments of the next boot. */
  nextArguments(): readonly string[];
  setNextArgumentsByHand(next: readonly string[]): void;
  /** Boots again: the disk keeps its content, and the NICs lose all settings. */
  reboot(): void;
  /** Switches the machine off and on. Only this changes the mode of a BlueField. */
  powerCycle(): void;
}

export function createFakeKernel(options: FakeKernelOptions): FakeKernel {
  const events = createFakeEvents<KernelEvent>({ kind: "overrun" });
  const { firmwareTools: hasTools = true, lockdown = "none" } = options;
  const { nics, clock = systemKernelClock, setNumVfsMs = 0, udevMs = 1, iommu = true, cpuVendor = "intel" } = options;
  const { bootLoader: program = "grubby" } = options;
  const netdevs = createNetdevs(emit);
  const files = createFakeFiles();
  const hasIommu = (running: readonly string[]) =>
    iommu === "with-argument" ? running.includes("intel_iommu=on") : iommu;
  const bootLoader = createFakeBootLoader({
    cpuVendor,
    hasIommu,
    isNoIommuOn: () => iommuState.isNoIommuOn,
    initial: ["ro", "quiet"],
    program: program === "none" ? undefined : program,
  });
  const rdma = createFakeRdma({
    mode: options.rdmaMode,
    emit,
    hasOtherNamespaces: netdevs.hasPods,
    readOption: () => readRdmaOption(files),
  });
  const vdpa = createFakeVdpa();
  const iommuState: FakeIommu = {
    exists: () => hasIommu(bootLoader.running()),
    canBeAbsent: options.noIommuSupport !== false,
    isNoIommuOn: options.isNoIommuOn === true,
  };
  const quirks = createQuirks();
  const log: string[] = [];
  const { macSeed = 1 } = options;
  const nextMac = createMacSource(macSeed);
  const bus: PciBus = createPciBus({
    netdevs,
    clock,
    quirks,
    rdma,
    vdpa,
    emit,
    nextMac,
    allowsVfio: () => iommuState.exists() || iommuState.isNoIommuOn,
    onVfsChanged: (pf) => {
      eswitch.sync(pf);
    },
  });
  const find: PciBus["find"] = (address) => bus.find(address);
  const { port: subfunctions, ...subfunctionState } = createFakeSubfunctions({
    find,
    netdevs,
    nextMac: createMacSource(76 + macSeed),
  });
  const eswitch = createFakeEswitch({
    find,
    netdevs,
    nextMac: createMacSource(98 + macSeed),
    quirks,
    onSync: subfunctionState.sync,
  });
  const xdp = createFakeXdp({ bus, netdevs, modelOfSubfunction: subfunctionState.modelOf });
  const pluginLeftovers = createFakePluginLeftovers(xdp);
  const carriers = createCarriers(clock, emitLinksOf);
  const { onReset } = carriers;
  const { port: sriov } = createFakeSriov({
    bus,
    netdevs,
    clock,
    setNumVfsMs,
    quirks,
    log: (line) => log.push(line),
    onReset,
  });
  const drivers = new Set(["vfio-pci", "vp-vdpa"]);
  const routes = createFakeRoutes(netdevs);
  const connectivity = createFakeConnectivity({ netdevs, routes: routes.port, quirks, find });
  const requestedReboots: string[] = [];
  // The runtime of the pods binds their namespace there.
  const listNames: HostFiles["listNames"] = async (directory) => [
    ...(await files.port.listNames(directory)),
    ...(directory === "/run/netns" && netdevs.hasPods() ? ["cni-pod"] : []),
  ];
  const systemd = createFakeSystemd({ files, onReboot: (reason) => requestedReboots.push(reason) });
  const ovs = createFakeOvs({ isManaged: options.managesOvs === true, hasInterface });
  const firmware = createFakeFirmware({ bus, hasTools, lockdown });
  const readRules = () => files.readAll("/etc/udev/rules.d/");
  const udev = createFakeUdev({ bus, netdevs, clock, readRules, delayMs: udevMs === "none" ? 0 : udevMs });
  const faults = createFaults();
  const writes: FakeWrite[] = [];

  let bootId = randomUUID();
  const ports: Host = {
    boot: { readBootId: () => answer(() => bootId) },
    bootProgram: createFakeBootProgram().port,
    sriov,
    links: createFakeLinks({ bus, netdevs, clock, quirks, nextMac, hasCarrier: carriers.hasCarrier, onReset }),
    routes: routes.port,
    connectivity: connectivity.port,
    linuxBridges: createFakeLinuxBridges(netdevs),
    devlink: eswitch.port,
    subfunctions,
    xdp: xdp.port,
    pluginLeftovers: pluginLeftovers.port,
    rdma: { ...rdma.port, setVfGuid: createSetVfGuid({ bus, netdevs }) },
    vdpa: vdpa.port,
    udev: udev.port,
    modules: createFakeModules({ bus, rdma, vdpa, drivers, iommu: iommuState }),
    firmware: firmware.port,
    configDrive: { readText: (path) => answer(() => options.configDrive?.[path]) },
    records: createFakeRecords(),
    afxdpRecords: createFakeAfxdpRecords(),
    files: { ...files.port, listNames: (directory) => listNames(directory) },
    systemd: systemd.port,
    ovs: ovs.port,
    kernelArguments: bootLoader.port,
    events: events.port,
    kernelLog: {
      readPosition: () => answer(() => log.length),
      readLines: ({ after, device }) => answer(() => log.slice(after).filter((line) => line.includes(device))),
    },
  };
  const host = createFakeHost(ports, { clock, faults, writes });

  const plugged = new Set<FakeNic>();
  let booted = false;
  for (const nic of nics) plugNew(nic);
  if (udevMs !== "none") udev.coldPlug();
  for (const netdev of netdevs.listVisible()) netdev.adminUp = true; // done by the network service of the distribution
  systemd.boot();
  booted = true;

  return {
    host: () => host,
    writes,
    fault: (match, effect) => faults.add(match, effect),
    log,
    setQuirks: quirks.set,
    hideRepresentor: eswitch.hideRepresentor,
    setHealth: eswitch.setHealth,
    failSubfunctionProbe: subfunctionState.failSubfunctionProbe,
    pluginLeftovers: pluginLeftovers.byHand,
    attachXdpProgram: xdp.attachProgram,
    detachXdpProgram: xdp.detach,
    failProbe: (device, code) => {
      bus.failProbe(device, code);
    },
    withholdInterface: (device, isWithheld) => {
      bus.withholdInterface(device, isWithheld);
    },
    overrunEvents: () => {
      events.overrun();
    },
    countResets: carriers.countResets,
    setCarrierByHand(pf, hasCarrier) {
      for (const { name } of netdevs.visibleOf(pf))
        files.write(`/sys/class/net/${name}/carrier`, hasCarrier ? "1\n" : "0\n");
      carriers.set(pf, hasCarrier);
    },
    plug: plugNew,
    unplug: (device) => {
      bus.unplug(device);
    },
    ...createManualActions({ bus, netdevs, sriov, emitLinksOf }),
    ovs: ovs.byHand,
    ...createManualLinks(netdevs),
    addRouteByHand: routes.add,
    removeRoutesByHand: routes.removeAll,
    silenceByHand: connectivity.silence,
    addRdmaDevice: rdma.addDevice,
    unloadRdmaByHand: rdma.unload,
    setRdmaModeByHand: rdma.setMode,
    loadVdpaSimulator: () => {
      vdpa.addManager({ device: "vdpasim_net" }, { maxVirtqueues: 3 });
    },
    unloadVdpaByHand: vdpa.unload,
    setFirmwareByHand: firmware.setByHand,
    setHostPrivilegeByHand: firmware.setPrivilegeByHand,
    freezeFirmware: firmware.freeze,
    writeFile: files.write,
    linkFile: files.link,
    listFiles: files.list,
    requestedReboots,
    nextArguments: bootLoader.next,
    setNextArgumentsByHand: bootLoader.setNextByHand,
    reboot: () => {
      boot(false);
    },
    powerCycle: () => {
      boot(true);
    },
    udevProperties: (name) => Object.fromEntries(netdevs.find(name).properties),
  };

  function hasInterface(name: string): boolean {
    return netdevs.listVisible().some((netdev) => netdev.name === name);
  }

  function emit(event: KernelEvent): void {
    events.emit(event);
    if (booted && udevMs !== "none") udev.onEvent(event);
  }

  /** Emits an event for each interface of a function, as after a change of its PF. */
  function emitLinksOf(pciAddress: PciAddress): void {
    const parent = { bus: "pci", name: pciAddress };
    for (const { name } of netdevs.visibleOf(pciAddress)) emit({ kind: "link", name, parent });
  }

  function boot(wasOff: boolean): void {
    booted = false;
    bootId = randomUUID();
    bootLoader.boot();
    const ports = [...plugged].flatMap((nic) => nic.ports).filter(({ pciAddress }) => bus.find(pciAddress));
    for (const { pciAddress } of ports) bus.unplug(pciAddress);
    for (const path of files.list()) if (path.startsWith("/run/")) files.remove(path);
    rdma.reboot();
    xdp.reboot();
    pluginLeftovers.reboot();
    vdpa.unload();
    firmware.boot(wasOff);
    plug({ ports: ports.map(firmware.portAfterBoot) });
    if (udevMs !== "none") udev.coldPlug();
    for (const netdev of netdevs.listVisible()) netdev.adminUp = true;
    systemd.boot();
    booted = true;
  }

  function plugNew(nic: FakeNic): void {
    for (const { pciAddress, quirks: ofPort = {} } of nic.ports) quirks.set(pciAddress, ofPort);
    plug(nic);
  }

  function plug(nic: FakeNic): void {
    plugged.add(nic);
    for (const port of nic.ports) {
      drivers.add(port.driver).add(port.sriov?.vfDriver ?? port.driver);
      bus.register(port.driver);
      bus.plug(port);
    }
  }
}

/** modprobe reads the options of all files in this directory. */
function readRdmaOption({ list, readText }: FakeFiles): RdmaMode | undefined {
  const texts = list().flatMap((path) =>
    /^\/etc\/modprobe\.d\/[^/]+\.conf$/.test(path) ? (readText(path) ?? []) : [],
  );
  const value = /^options ib_core netns_mode=([01])$/m.exec(texts.join("\n"))?.[1];
  if (value === undefined) return undefined;
  return value === "0" ? "exclusive" : "shared";
}

/** The carriers of the ports, which a reset by the driver interrupts. `emitLinksOf` is called at its loss and its return. */
function createCarriers(clock: KernelClock, emitLinksOf: (pciAddress: PciAddress) => void) {
  const carrierBackMs = new Map<PciAddress, number>();
  const resets = new Map<PciAddress, number>();
  const unplugged = new Set<PciAddress>();
  return {
    hasCarrier: ({ pciAddress }: PfFunction) =>
      !unplugged.has(pciAddress) && clock.nowMs() >= (carrierBackMs.get(pciAddress) ?? 0),
    set(pf: PciAddress, isPlugged: boolean): void {
      if (isPlugged) unplugged.delete(pf);
      else unplugged.add(pf);
      emitLinksOf(pf);
    },
    countResets: (pf: PciAddress) => resets.get(pf) ?? 0,
    onReset({ pciAddress, port }: PfFunction): void {
      resets.set(pciAddress, (resets.get(pciAddress) ?? 0) + 1);
      const lossMs = port.sriov?.carrierLossMs ?? 0;
      carrierBackMs.set(pciAddress, clock.nowMs() + lossMs);
      emitLinksOf(pciAddress);
      clock.later(lossMs, () => {
        emitLinksOf(pciAddress);
      });
    },
  };
}

/** Actions of administrators and of other programs on PCI functions and interfaces. */
function createManualActions({ bus, netdevs, sriov, emitLinksOf }: ManualActionsDeps) {
  function findFunction(pciAddress: PciAddress): AnyFunction {
    const fn = bus.find(pciAddress);
    if (fn === undefined) throw new Refusal("ENODEV");
    return fn;
  }

  return {
    unbindByHand: (device) => {
      bus.unbind(findFunction(device));
    },
    setNumVfsByHand: (pf, count) => sriov.setNumVfs(pf, count),
    setVfByHand(pf, vfId, setting) {
      const fn = findFunction(pf);
      const vf = fn.kind === "pf" ? fn.vfs[vfId] : undefined;
      if (vf === undefined) throw new Refusal("EINVAL");
      if ("mac" in setting) [vf.pfMac, vf.isAssigned] = [setting.mac, true];
      else vf.settings = changedBy(setting, vf.settings);
      emitLinksOf(pf);
    },
    changeVfLinkByHand(vf, change) {
      netdevs.changeOf(vf, change);
    },
    renameLink: (name, newName) => {
      netdevs.rename(netdevs.find(name), newName);
    },
    addAltName: (name, altName) => {
      netdevs.change(netdevs.find(name), (netdev) => {
        netdev.altNames = [...netdev.altNames, altName];
      });
    },
    setPromiscuousByHand: (name) => {
      netdevs.change(netdevs.find(name), (netdev) => {
        netdev.promiscuous = true;
      });
    },
    moveToPod: (vf) => {
      netdevs.moveToPod(vf);
    },
    returnFromPod: (vf) => {
      netdevs.returnFromPod(vf);
    },
    moveLinkToPod: (name) => netdevs.moveOneToPod(netdevs.find(name)),
  } satisfies Partial<FakeKernel>;
}

/** Actions of administrators and of other programs on virtual interfaces. */
function createManualLinks(netdevs: Netdevs) {
  return {
    addLinkByHand(name, kind, lower) {
      const lowerIndex = lower === undefined ? undefined : netdevs.find(lower).index;
      const bridge = kind === "bridge" ? { bridge: newBridge } : {};
      const added = netdevs.addVirtual({ name, kind, ...bridge, ...defined({ lowerIndex }) });
      netdevs.change(added, (link) => (link.adminUp = true));
    },
    deleteLinkByHand(name) {
      netdevs.remove(netdevs.find(name));
    },
    setMasterByHand(name, master) {
      const masterIndex = master === undefined ? undefined : netdevs.find(master).index;
      netdevs.change(netdevs.find(name), (port) => (port.masterIndex = masterIndex));
    },
  } satisfies Partial<FakeKernel>;
}

interface ManualActionsDeps {
  readonly bus: PciBus;
  readonly netdevs: Netdevs;
  readonly sriov: SriovSysfs;
  readonly emitLinksOf: (pciAddress: PciAddress) => void;
}

/** Returns a generator of local unicast addresses, which are the same in each run. */
function createMacSource(first: number): () => string {
  let seed = first;
  const nextByte = () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return ((seed >>> 16) & 255).toString(16).padStart(2, "0");
  };
  return () => ["02", nextByte(), nextByte(), nextByte(), nextByte(), nextByte()].join(":");
}
