// SPDX-License-Identifier: Apache-2.0
/**
 * createFakeSriov implements SriovSysfs on the fake kernel, with errors in the order of drivers/pci/iov.c (6.12).
 */
import { defined, type PciAddress } from "@switchyard/api";
import { checkKernelName } from "../linux/system/kernel-names.ts";
import type { SysfsPf, SriovSysfs, SysfsVf } from "../ports/sriov-sysfs.ts";
import type { KernelClock } from "./clock.ts";
import type { DriverQuirks, QuirksByPf } from "./driver-quirks.ts";
import type { Netdevs } from "./fake-netdevs.ts";
import type { AnyFunction, PfFunction, VfFunction } from "./fake-functions.ts";
import type { PciBus } from "./fake-pci.ts";
import type { FakeSriov } from "./nic-models.ts";
import { answer, Refusal } from "./faults.ts";

export interface FakeSriovDeps {
  readonly bus: PciBus;
  readonly netdevs: Netdevs;
  readonly clock: KernelClock;
  /** Duration of a change of the number of VFs. */
  readonly setNumVfsMs: number;
  readonly quirks: QuirksByPf;
  /** Writes a line to the kernel log. */
  readonly log: (line: string) => void;
  /** Called when the driver resets the PF. */
  readonly onReset: (pf: PfFunction) => void;
}

export interface FakeSriovSysfs {
  readonly port: SriovSysfs;
}

export function createFakeSriov(deps: FakeSriovDeps): FakeSriovSysfs {
  const { bus, netdevs, clock, setNumVfsMs, onReset } = deps;
  const locked = createDeviceLocks();

  function findPf(pciAddress: PciAddress): { readonly pf: PfFunction; readonly sriov: FakeSriov } {
    const pf = bus.find(pciAddress);
    // Without the capability, the file does not exist.
    if (pf?.kind !== "pf" || pf.port.sriov === undefined) throw new Refusal("ENOENT");
    return { pf, sriov: pf.port.sriov };
  }

  function find(pciAddress: PciAddress, otherwise: string): AnyFunction {
    const fn = bus.find(pciAddress);
    if (fn === undefined) throw new Refusal(otherwise);
    return fn;
  }

  async function setNumVfs(pciAddress: PciAddress, count: number): Promise<void> {
    const { pf: asked, sriov } = findPf(pciAddress);
    if (!Number.isInteger(count) || count < 0 || count > 0xffff) throw new Refusal("EINVAL"); // not a u16
    if (count > limitOf(asked, sriov)) throw new Refusal("ERANGE");
    await locked(pciAddress, async () => {
      const { pf } = findPf(pciAddress);
      if (count === pf.numVfs) return;
      if (pf.driver !== pf.nativeDriver) throw new Refusal("ENOENT"); // no driver that supports SR-IOV
      if (count > 0 && pf.numVfs > 0) throw new Refusal("EBUSY");
      if (ignores(pf)) return;
      refuse(pf, count);
      if (setNumVfsMs > 0) await clock.sleep(setNumVfsMs);
      if (bus.find(pciAddress) !== pf) throw new Refusal("ENODEV"); // unplugged meanwhile
      if (sriov.carrierLossMs > 0) onReset(pf);
      if (count === 0) bus.removeVfs(pf);
      else addVfs(pf, sriov, count);
    });
  }

  function addVfs(pf: PfFunction, sriov: FakeSriov, count: number): void {
    const { pciAddress, driver = "" } = pf;
    const enabled = Math.min(count, deps.quirks.of(pciAddress).createsAtMost ?? count);
    bus.addVfs(pf, sriov, enabled);
    if (enabled < count) deps.log(`${driver} ${pciAddress}: ${count} VFs requested; only ${enabled} enabled`);
  }

  // bnxt_sriov_configure() returns 0 while the interface is down or the firmware is being reset.
  function ignores({ pciAddress }: PfFunction): boolean {
    const { ignoresNumVfs } = deps.quirks.of(pciAddress);
    const isDown = netdevs.visibleOf(pciAddress).every(({ adminUp }) => !adminUp);
    return ignoresNumVfs === "always" || (ignoresNumVfs === "while-down" && isDown);
  }

  function refuse({ pciAddress, driver }: PfFunction, count: number): void {
    if (count === 0) return;
    if (deps.quirks.isBusy(pciAddress, "busyNumVfs")) throw new Refusal("EAGAIN");
    const { refusesNumVfs } = deps.quirks.of(pciAddress);
    if (refusesNumVfs === undefined || count <= refusesNumVfs.above) return;
    if (refusesNumVfs.log !== undefined) deps.log(`${driver ?? ""} ${pciAddress}: ${refusesNumVfs.log}`);
    throw new Refusal(refusesNumVfs.code);
  }

  return {
    port: {
      async listPfs(except = []) {
        const looked = bus.listPfs().filter(({ pciAddress }) => !except.includes(pciAddress));
        const facts = await Promise.all(looked.map(({ pciAddress }) => readPf(pciAddress)));
        return facts.filter((pf) => pf !== undefined);
      },
      readPf,
      setNumVfs,
      readBinding: (device) =>
        answer(() => {
          const fn = bus.find(device);
          return (
            fn && {
              ...defined({ driver: fn.driver, driverOverride: fn.driverOverride }),
              incarnation: `${fn.incarnation}`,
            }
          );
        }),
      setDriverOverride: (device, driver) =>
        answer(() => {
          if (driver !== undefined) checkKernelName(driver);
          find(device, "ENOENT").driverOverride = driver;
        }),
      bindDriver: (device, driver) =>
        answer(() => {
          checkKernelName(driver);
          bus.bind(device, driver);
        }),
      unbindDriver: (device) =>
        answer(() => {
          bus.unbind(find(device, "ENOENT"));
        }),
      probeDrivers: (device) =>
        answer(() => {
          bus.probe(find(device, "ENODEV"));
        }),
    },
  };

  async function readPf(pciAddress: PciAddress): Promise<SysfsPf | undefined> {
    return locked(pciAddress, () => {
      const pf = bus.find(pciAddress);
      return pf?.kind === "pf" ? factsOf(pf, netdevs, deps.quirks.of(pciAddress)) : undefined;
    });
  }
}

function factsOf(pf: PfFunction, netdevs: Netdevs, quirks: DriverQuirks): SysfsPf {
  const { vendor, deviceId, sriov, pcieRoot, numaNode } = pf.port;
  return {
    pciAddress: pf.pciAddress,
    vendor,
    deviceId,
    ...defined({ driver: pf.driver }),
    netdevs: namesOf(pf.pciAddress, netdevs),
    ...defined({ pcieRoot, numaNode }),
    ...(sriov && {
      sriov: {
        totalVfs: limitOf(pf, sriov),
        numVfs: pf.numVfs,
        vfs: pf.vfs.map((vf) => vfFactsOf(vf, netdevs, quirks)),
      },
    }),
  };
}

// pci_iov_remove() removes the limit of the driver when the driver is unbound.
function limitOf({ driver }: PfFunction, { totalVfs, capabilityVfs = totalVfs }: FakeSriov): number {
  return driver === undefined ? capabilityVfs : totalVfs;
}

function vfFactsOf(
  { vfId, pciAddress, deviceId, driver, pf }: VfFunction,
  netdevs: Netdevs,
  { sharesIommuGroupWith }: DriverQuirks,
): SysfsVf {
  const { vendor } = pf.port;
  const iommuGroupPeers = driver === "vfio-pci" ? sharesIommuGroupWith : undefined;
  const netdevNames = namesOf(pciAddress, netdevs);
  return { vfId, pciAddress, vendor, deviceId, netdevs: netdevNames, ...defined({ driver, iommuGroupPeers }) };
}

function namesOf(pciAddress: PciAddress, netdevs: Netdevs): readonly string[] {
  return netdevs
    .visibleOf(pciAddress)
    .map(({ name }) => name)
    .sort();
}

/** sriov_numvfs is read and written under the lock of the device, so a reader waits until the VFs are created. */
function createDeviceLocks() {
  const locks = new Map<PciAddress, Promise<unknown>>();
  return function locked<Value>(pf: PciAddress, act: () => Promise<Value> | Value): Promise<Value> {
    const result = (locks.get(pf) ?? Promise.resolve()).then(act);
    const done = result.catch(() => undefined);
    locks.set(pf, done);
    return result;
  };
}
