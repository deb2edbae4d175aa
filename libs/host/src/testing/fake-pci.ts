// SPDX-License-Identifier: Apache-2.0
/**
 * The PCI functions of the fake kernel and who drives them. The rules are those of drivers/pci/pci-driver.c and
 * drivers/base/bus.c (6.12), as the VM lab showed them; a driver that binds to a function makes its interface.
 * Usage: `const bus = createPciBus({ netdevs, emit, nextMac }); bus.plug(port)`.
 */
import type { PciAddress } from "@switchyard/api";
import type { KernelEvent } from "../ports/kernel-events.ts";
import type { Netdevs } from "./fake-netdevs.ts";
import { newPf, newVf, type AnyFunction, type PfFunction, type VfFunction } from "./fake-functions.ts";
import type { FakePort, FakeSriov } from "./nic-models.ts";
import { Refusal } from "./refusal.ts";

export interface PciBus {
  plug(port: FakePort): void;
  /** The function vanishes, a PF with all of its VFs. */
  unplug(pciAddress: PciAddress): void;
  find(pciAddress: PciAddress): AnyFunction | undefined;
  /** By ascending address. */
  listPfs(): readonly PfFunction[];
  /** Registers a driver, which takes whatever free function it matches. */
  register(driver: string): void;
  isRegistered(driver: string): boolean;
  /** What a write to the driver's `bind` does. */
  bind(pciAddress: PciAddress, driver: string): void;
  /** What a write to the function's driver/unbind does. */
  unbind(fn: AnyFunction): void;
  /** What drivers_probe does: who refuses is passed over in silence. */
  probe(fn: AnyFunction): void;
  addVfs(pf: PfFunction, sriov: FakeSriov, count: number): void;
  removeVfs(pf: PfFunction): void;
  /** From now on drivers fail to take this function, with this errno; undefined heals it. */
  failProbe(pciAddress: PciAddress, code: string | undefined): void;
}

/** What a PCI bus is built on. */
export interface PciBusDeps {
  readonly netdevs: Netdevs;
  readonly emit: (event: KernelEvent) => void;
  /** An address for a VF that was assigned none. */
  readonly nextMac: () => string;
  /** Without one, vfio-pci takes no function. */
  readonly iommu: boolean;
}

export function createPciBus({ netdevs, emit, nextMac, iommu }: PciBusDeps): PciBus {
  const functions = new Map<PciAddress, AnyFunction>();
  const registered = new Set<string>();
  const failures = new Map<PciAddress, string>();
  let nextIncarnation = 1;

  function tell(action: string, { pciAddress }: AnyFunction) {
    emit({ kind: "pci", action, pciAddress });
  }

  // pci_match_device(): an override excludes all other drivers, and makes its own match anything.
  function matches(fn: AnyFunction, driver: string): boolean {
    return driver === (fn.driverOverride ?? fn.nativeDriver);
  }

  // __driver_probe_device(), pci_device_probe()
  function attach(fn: AnyFunction, driver: string): void {
    if (fn.driver !== undefined) throw new Refusal("EBUSY");
    const failure = failures.get(fn.pciAddress);
    if (failure !== undefined) throw new Refusal(failure);
    if (driver === "vfio-pci") {
      if (!iommu) throw new Refusal("EINVAL");
    } else if (driver !== fn.nativeDriver) throw new Refusal("EINVAL"); // a driver for other hardware
    fn.driver = driver;
    fn.incarnation = nextIncarnation++;
    if (driver !== "vfio-pci") addNetdev(fn);
    tell("bind", fn);
  }

  function addNetdev(fn: AnyFunction): void {
    const parent = fn.pciAddress;
    if (fn.kind === "pf") {
      const { mac, maxMtu, physPortName, physSwitchId } = fn.port;
      netdevs.add({
        ...{ parent, mac, maxMtu },
        ...(physPortName !== undefined && { physPortName }),
        ...(physSwitchId !== undefined && { physSwitchId }),
      });
    } else {
      const { sriov, maxMtu } = fn.pf.port;
      netdevs.add({ parent, mac: takeMac(fn), maxMtu: sriov?.vfMaxMtu ?? maxMtu });
    }
  }

  /** The address with which a VF's driver starts; it talks to the PF's driver about it, where that listens. */
  function takeMac(vf: VfFunction): string {
    const { needsPfUp = false, showsOwnVfMac = false } = vf.pf.port.sriov ?? {};
    const listens = !needsPfUp || netdevs.visibleOf(vf.pf.pciAddress).some(({ adminUp }) => adminUp);
    const mac = (listens && vf.isAssigned ? vf.pfMac : undefined) ?? nextMac();
    if (listens && showsOwnVfMac) vf.pfMac = mac;
    return mac;
  }

  function detach(fn: AnyFunction): void {
    if (fn.driver === undefined) return;
    if (fn.kind === "pf") removeVfs(fn); // igb, i40e, ice and mlx5 do not leave VFs without their PF
    netdevs.removeOf(fn.pciAddress);
    fn.driver = undefined;
    fn.incarnation = nextIncarnation++;
    tell("unbind", fn);
  }

  function tryAttach(fn: AnyFunction, driver: string): void {
    try {
      if (fn.driver === undefined) attach(fn, driver);
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal; // a kernel logs it, and goes on
    }
  }

  function probe(fn: AnyFunction): void {
    const driver = fn.driverOverride ?? fn.nativeDriver;
    if (registered.has(driver)) tryAttach(fn, driver);
  }

  function enter(fn: AnyFunction): void {
    functions.set(fn.pciAddress, fn);
    fn.incarnation = nextIncarnation++;
    tell("add", fn);
  }

  function leave(fn: AnyFunction): void {
    detach(fn);
    functions.delete(fn.pciAddress);
    tell("remove", fn);
  }

  function removeVfs(pf: PfFunction): void {
    const { vfs } = pf;
    pf.vfs = [];
    for (const vf of vfs) leave(vf);
  }

  return {
    plug(port) {
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
      for (let vfId = 0; vfId < count; vfId++) {
        const vf = newVf(pf, sriov, vfId);
        pf.vfs = [...pf.vfs, vf];
        enter(vf);
        tell("change", vf);
        probe(vf);
      }
      tell("change", pf);
    },
    removeVfs,
    failProbe(pciAddress, code) {
      if (code === undefined) failures.delete(pciAddress);
      else failures.set(pciAddress, code);
    },
  };
}
