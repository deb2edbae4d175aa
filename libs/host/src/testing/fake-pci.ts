// SPDX-License-Identifier: Apache-2.0
/**
 * createPciBus implements the PCI functions of the fake kernel and their drivers, by the rules of drivers/pci/pci-driver.c and
 * drivers/base/bus.c (6.12), confirmed in the VM lab. A driver that is bound to a function creates its interface.
 */
import { defined, type PciAddress } from "@switchyard/api";
import type { KernelEvent } from "../ports/kernel.ts";
import type { Netdevs } from "./fake-netdevs.ts";
import {
  guidOf,
  ipoibAddress,
  isVirtio,
  newPf,
  portOf,
  newVf,
  type AnyFunction,
  type PfFunction,
  type VfFunction,
} from "./fake-functions.ts";
import type { FakeRdma } from "./fake-rdma.ts";
import type { FakeVdpa } from "./fake-vdpa.ts";
import type { FakePort, FakeSriov } from "./nic-models.ts";
import type { KernelClock } from "./clock.ts";
import type { QuirksByPf } from "./driver-quirks.ts";
import { Refusal } from "./faults.ts";

export interface PciBus {
  plug(port: FakePort): void;
  /** Removes the function, and the VFs of a PF. */
  unplug(pciAddress: PciAddress): void;
  find(pciAddress: PciAddress): AnyFunction | undefined;
  /** Returns the PFs by ascending address. */
  listPfs(): readonly PfFunction[];
  /** Registers a driver, which binds to each matching function without a driver. */
  register(driver: string): void;
  isRegistered(driver: string): boolean;
  /** Implements a write to `bind` of the driver. */
  bind(pciAddress: PciAddress, driver: string): void;
  /** Implements a write to driver/unbind of the function. */
  unbind(fn: AnyFunction): void;
  /** Implements a write to drivers_probe, which ignores errors of drivers. */
  probe(fn: AnyFunction): void;
  addVfs(pf: PfFunction, sriov: FakeSriov, count: number): void;
  removeVfs(pf: PfFunction): void;
  /** Makes drivers fail on this function with this errno; undefined ends this. */
  failProbe(pciAddress: PciAddress, code: string | undefined): void;
  /** Makes the next binds of the kernel's driver to the function create no interface; false ends this. */
  withholdInterface(pciAddress: PciAddress, isWithheld: boolean): void;
}

/** The parts of the fake kernel that the PCI bus uses. */
export interface PciBusDeps {
  readonly netdevs: Netdevs;
  /** Adds and removes the RDMA device of a function. */
  readonly rdma: Pick<FakeRdma, "addOf" | "removeOf">;
  /** A VF whose driver supports vDPA is a management device, and so is a virtio function that is bound to vp-vdpa. */
  readonly vdpa: Pick<FakeVdpa, "addManager" | "removeManager">;
  readonly emit: (event: KernelEvent) => void;
  /** Returns an address for a VF without an assigned address. */
  readonly nextMac: () => string;
  /** Called when the VFs of a PF or its eswitch have changed. */
  readonly onVfsChanged: (pf: PfFunction) => void;
  readonly clock: Pick<KernelClock, "later">;
  readonly quirks: QuirksByPf;
  /** Whether vfio-pci can be bound: the machine has an IOMMU, or no-IOMMU mode is on. */
  readonly allowsVfio: () => boolean;
}

export function createPciBus(deps: PciBusDeps): PciBus {
  const functions = new Map<PciAddress, AnyFunction>();
  const registered = new Set<string>();
  const { attach, detach, tryAttach, failProbe, withholdInterface, emitPci, renew } = createBinder({
    ...deps,
    removeVfs,
  });

  // The drivers of the bus are tried in the order in which they were registered, and vfio-pci with ids is registered first.
  function probe(fn: AnyFunction): void {
    for (const driver of ["vfio-pci", fn.driverOverride ?? fn.nativeDriver]) {
      if (registered.has(driver) && matches(fn, driver)) tryAttach(fn, driver);
    }
  }

  /** Reports whether the driver accepts the function. An override excludes all other drivers (pci_match_device()). */
  function matches(fn: AnyFunction, driver: string): boolean {
    if (fn.driverOverride !== undefined) return driver === fn.driverOverride;
    const isTaken = fn.kind === "vf" && deps.quirks.of(fn.pf.pciAddress).isVfioFirst === true;
    return driver === fn.nativeDriver || (isTaken && driver === "vfio-pci");
  }

  function addVf(pf: PfFunction, sriov: FakeSriov, vfId: number): void {
    const vf = newVf(pf, sriov, vfId);
    pf.vfs = [...pf.vfs, vf];
    enter(vf);
    emitPci("change", vf);
    probe(vf);
  }

  /** Adds the VFs that are missing, one by one, unless all are removed meanwhile. */
  function addVfsLater(pf: PfFunction, sriov: FakeSriov, intervalMs: number): void {
    const { vfs } = pf;
    if (vfs.length >= pf.numVfs) return;
    deps.clock.later(intervalMs, () => {
      if (functions.get(pf.pciAddress) !== pf || pf.vfs !== vfs) return;
      addVf(pf, sriov, vfs.length);
      deps.onVfsChanged(pf);
      addVfsLater(pf, sriov, intervalMs);
    });
  }

  function enter(fn: AnyFunction): void {
    functions.set(fn.pciAddress, fn);
    renew(fn);
    emitPci("add", fn);
  }

  function leave(fn: AnyFunction): void {
    detach(fn);
    functions.delete(fn.pciAddress);
    emitPci("remove", fn);
  }

  function removeVfs(pf: PfFunction): void {
    const { vfs } = pf;
    pf.vfs = [];
    pf.numVfs = 0;
    for (const vf of vfs) leave(vf);
    deps.onVfsChanged(pf);
  }

  return {
    plug(port) {
      if (deps.quirks.of(port.pciAddress).isVfioFirst === true) registered.add("vfio-pci");
      const pf = newPf(port);
      enter(pf);
      probe(pf);
    },
    unplug(pciAddress) {
      const fn = functions.get(pciAddress);
      if (fn === undefined) return;
      if (fn.kind === "pf") removeVfs(fn);
      leave(fn);
    },
    find: (pciAddress) => functions.get(pciAddress),
    listPfs: () =>
      [...functions.values()].filter((fn) => fn.kind === "pf").sort((a, b) => (a.pciAddress < b.pciAddress ? -1 : 1)),
    register(driver) {
      registered.add(driver);
      for (const fn of functions.values()) if (matches(fn, driver)) tryAttach(fn, driver);
    },
    isRegistered: (driver) => registered.has(driver),
    bind(pciAddress, driver) {
      if (!registered.has(driver)) throw new Refusal("ENOENT");
      const fn = functions.get(pciAddress);
      if (fn === undefined || !matches(fn, driver)) throw new Refusal("ENODEV");
      attach(fn, driver);
    },
    unbind(fn) {
      if (fn.driver === undefined) throw new Refusal("ENOENT");
      detach(fn);
    },
    probe,
    addVfs(pf, sriov, count) {
      const { vfIntervalMs } = deps.quirks.of(pf.pciAddress);
      pf.numVfs = count;
      pf.vfs = [];
      if (vfIntervalMs === undefined) for (let vfId = 0; vfId < count; vfId++) addVf(pf, sriov, vfId);
      else addVfsLater(pf, sriov, vfIntervalMs);
      deps.onVfsChanged(pf);
      emitPci("change", pf);
    },
    removeVfs,
    failProbe,
    withholdInterface,
  };
}

/** Binds by an override only, as it has no table of IDs. */
const vpVdpa = "vp-vdpa";

/** Two queues of data, and the control queue. */
const virtioQueues = 3;

interface BinderDeps extends PciBusDeps {
  readonly removeVfs: (pf: PfFunction) => void;
}

/** Binds drivers to functions and unbinds them. */
function createBinder(deps: BinderDeps) {
  const { netdevs, rdma, vdpa, emit, nextMac, allowsVfio, removeVfs, quirks, clock } = deps;
  const failures = new Map<PciAddress, string>();
  const withheld = new Set<PciAddress>();
  let nextIncarnation = 1;

  function emitPci(action: string, { pciAddress }: AnyFunction): void {
    emit({ kind: "pci", action, pciAddress });
  }

  function renew(fn: AnyFunction): void {
    fn.incarnation = nextIncarnation++;
  }

  // pci_device_can_probe(); the probe functions of other drivers than that of the kernel's choice succeed.
  function canProbe(fn: AnyFunction, driver: string): boolean {
    if (fn.kind === "pf") return true;
    const { autoprobe = true, failsToProbe = [] } = quirks.of(fn.pf.pciAddress);
    const isBroken = driver === fn.nativeDriver && failsToProbe.includes(fn.vfId);
    return (autoprobe || fn.driverOverride !== undefined) && !isBroken;
  }

  function addInterface(fn: AnyFunction): void {
    if (withheld.has(fn.pciAddress)) return;
    const add = (): void => {
      addNetdev(fn, { netdevs, nextMac, quirks });
    };
    if (fn.kind === "pf") {
      add();
      return;
    }
    const { interfaceAfterMs, neverHasInterface, hasInterfaceAfterSecondBind } = quirks.of(fn.pf.pciAddress);
    fn.binds++;
    if (neverHasInterface?.includes(fn.vfId) === true) return;
    if (hasInterfaceAfterSecondBind?.includes(fn.vfId) === true && fn.binds < 2) return;
    if (interfaceAfterMs === undefined) {
      add();
      return;
    }
    const { incarnation } = fn;
    clock.later(interfaceAfterMs, () => {
      if (fn.incarnation === incarnation) add();
    });
  }

  // __driver_probe_device(), pci_device_probe()
  function attach(fn: AnyFunction, driver: string): void {
    if (fn.driver !== undefined) throw new Refusal("EBUSY");
    const failure = failures.get(fn.pciAddress);
    if (failure !== undefined) throw new Refusal(failure);
    if (!canProbe(fn, driver)) throw new Refusal("ENODEV");
    if (driver === "vfio-pci") {
      if (!allowsVfio()) throw new Refusal("EINVAL");
      const { refusesVfio } = fn.kind === "vf" ? quirks.of(fn.pf.pciAddress) : {};
      if (refusesVfio !== undefined) throw new Refusal(refusesVfio.code);
    } else if (driver === vpVdpa) {
      if (!isVirtio(fn)) throw new Refusal("ENODEV"); // vp_modern_probe()
      // vp_vdpa.c creates any number of devices, and confuses them if there are two (6.12).
      vdpa.addManager({ bus: "pci", device: fn.pciAddress }, { maxVirtqueues: virtioQueues });
    } else if (driver !== fn.nativeDriver) throw new Refusal("EINVAL"); // a driver for other hardware
    fn.driver = driver;
    renew(fn);
    if (driver === fn.nativeDriver) {
      addInterface(fn);
      if (portOf(fn).hasRdma === true) rdma.addOf(fn.pciAddress, guidOf(fn));
      const { vdpaVirtqueues: maxVirtqueues } = portOf(fn);
      if (fn.kind === "vf" && maxVirtqueues !== undefined) {
        vdpa.addManager({ bus: "pci", device: fn.pciAddress }, { maxVirtqueues, hasPairs: true, maxDevices: 1 });
      }
    }
    emitPci("bind", fn);
  }

  function detach(fn: AnyFunction): void {
    if (fn.driver === undefined) return;
    if (fn.kind === "pf") {
      fn.eswitchMode = fn.port.eswitchMode; // the next driver instance starts in the initial mode
      removeVfs(fn); // igb, i40e, ice and mlx5 remove the VFs when the PF is unbound
    }
    netdevs.removeOf(fn.pciAddress);
    rdma.removeOf(fn.pciAddress);
    vdpa.removeManager(fn.pciAddress);
    fn.driver = undefined;
    renew(fn);
    emitPci("unbind", fn);
  }

  function tryAttach(fn: AnyFunction, driver: string): void {
    try {
      if (fn.driver === undefined) attach(fn, driver);
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal; // the kernel logs the error and continues
    }
  }

  function failProbe(pciAddress: PciAddress, code: string | undefined): void {
    if (code === undefined) failures.delete(pciAddress);
    else failures.set(pciAddress, code);
  }

  // iavf registers its interface after a handshake with the PF, and not in its probe function.
  function withholdInterface(pciAddress: PciAddress, isWithheld: boolean): void {
    if (isWithheld) withheld.add(pciAddress);
    else withheld.delete(pciAddress);
  }

  return { attach, detach, tryAttach, failProbe, withholdInterface, emitPci, renew };
}

type NetdevDeps = Pick<PciBusDeps, "netdevs" | "nextMac" | "quirks">;

/** Adds the interface that a driver creates for its function. */
export function addNetdev(fn: AnyFunction, deps: NetdevDeps): void {
  const { netdevs } = deps;
  const parent = fn.pciAddress;
  if (fn.kind === "pf") {
    const { linkType, mac, maxMtu, physPortName, physSwitchId } = fn.port;
    netdevs.add({
      parent,
      mac: linkType === "infiniband" ? ipoibAddress(fn) : mac,
      maxMtu,
      isVirtio: isVirtio(fn),
      ...defined({ physPortName, physSwitchId }),
    });
  } else {
    const { linkType, sriov, maxMtu } = fn.pf.port;
    const mac = linkType === "infiniband" ? ipoibAddress(fn) : firstMac(fn, deps);
    netdevs.add({ parent, mac, maxMtu: sriov?.vfMaxMtu ?? maxMtu, isVirtio: isVirtio(fn) });
  }
}

/** Returns the first address of a VF. Its driver asks the driver of the PF for it, if that answers. */
function firstMac(vf: VfFunction, { netdevs, nextMac, quirks }: NetdevDeps): string {
  if (quirks.of(vf.pf.pciAddress).hasZeroVfMac === true) return vf.pfMac ?? "00:00:00:00:00:00";
  const { needsPfUp = false, showsOwnVfMac = false } = vf.pf.port.sriov ?? {};
  const listens = !needsPfUp || netdevs.visibleOf(vf.pf.pciAddress).some(({ adminUp }) => adminUp);
  const mac = (listens && vf.isAssigned ? vf.pfMac : undefined) ?? nextMac();
  if (listens && showsOwnVfMac) vf.pfMac = mac;
  return mac;
}
