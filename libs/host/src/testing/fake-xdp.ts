// SPDX-License-Identifier: Apache-2.0
/**
 * Implements Xdp on the fake kernel: features by the model of the NIC, queues that a driver forgets with its interface, and
 * programs that others attach.
 */
import { defined } from "@switchyard/api";
import type { NetDevice, Queues, Xdp, XdpProgram } from "../ports/xdp.ts";
import { portOf } from "./fake-functions.ts";
import type { Netdev, Netdevs } from "./fake-netdevs.ts";
import type { PciBus } from "./fake-pci.ts";
import type { FakePort } from "./nic-models.ts";
import { driverOfDevice } from "./fake-subfunctions.ts";
import { answer, Refusal } from "./faults.ts";

export interface FakeXdpDeps {
  readonly bus: PciBus;
  readonly netdevs: Netdevs;
  /** Returns the model of the PF of a subfunction by its auxiliary device. */
  readonly modelOfSubfunction: (device: string) => FakePort | undefined;
}

export interface FakeXdp {
  readonly port: Xdp;
  /** Attaches a program, as the device plugin, which pins a map before, or another program does. */
  attachProgram(name: string, program: XdpProgram): void;
  /** Detaches the program with this id, if it is attached. */
  detach(name: string, id: number): void;
  /** Forgets the pinned maps. */
  reboot(): void;
}

export function createFakeXdp({ bus, netdevs, modelOfSubfunction }: FakeXdpDeps): FakeXdp {
  const queues = new WeakMap<Netdev, number>();
  const maps = new Set<string>();

  /** Returns the model of the NIC if its driver, and not that of a VF or a representor, made the interface. */
  function modelOf({ parent, auxiliary, representorOf }: Netdev): FakePort | undefined {
    if (auxiliary !== undefined) return modelOfSubfunction(auxiliary);
    const fn = parent && bus.find(parent);
    return fn?.kind === "pf" && representorOf === undefined ? portOf(fn) : undefined;
  }

  function deviceOf({ parent, auxiliary }: Netdev): NetDevice {
    const pf = auxiliary && modelOfSubfunction(auxiliary);
    if (pf) {
      const { pciAddress, vendor, deviceId, numaNode } = pf;
      return { driver: driverOfDevice(auxiliary), pciAddress, vendor, deviceId, ...defined({ numaNode }) };
    }
    const fn = parent && bus.find(parent);
    if (fn === undefined) return {};
    const { vendor, numaNode } = portOf(fn);
    return { pciAddress: fn.pciAddress, vendor, deviceId: fn.deviceId, ...defined({ driver: fn.driver, numaNode }) };
  }

  function queuesOf(netdev: Netdev): Queues | undefined {
    const max = modelOf(netdev)?.maxQueues;
    return max === undefined ? undefined : { count: queues.get(netdev) ?? max, max };
  }

  return {
    attachProgram(name, program) {
      const netdev = netdevs.find(name);
      if (netdev.xdpProgram !== undefined) throw new Refusal("EBUSY", "XDP program already attached");
      netdev.xdpProgram = program;
      if (program.isOwn) maps.add(name);
    },
    detach(name, id) {
      const netdev = netdevs.find(name);
      if (netdev.xdpProgram?.id === id) netdev.xdpProgram = undefined;
    },
    reboot: () => {
      maps.clear();
    },
    port: {
      listFeatures: () =>
        answer(() => [
          { index: 1, native: false, zeroCopy: false },
          ...netdevs.listVisible().map((netdev) => {
            const { native = netdev.kind === "veth", zeroCopy = false } = modelOf(netdev)?.xdp ?? {};
            return { index: netdev.index, native, zeroCopy };
          }),
        ]),
      readDevice: (name) => answer(() => (name === "lo" ? {} : deviceOf(netdevs.find(name)))),
      readPrograms: (name) =>
        answer(() => {
          const { xdpProgram } = netdevs.find(name);
          return xdpProgram === undefined ? [] : [xdpProgram];
        }),
      detachOwnPrograms: (name) =>
        answer(() => {
          const netdev = netdevs.find(name);
          if (netdev.xdpProgram?.isOwn === true) netdev.xdpProgram = undefined;
        }),
      listOwnMaps: () => answer(() => [...maps].sort()),
      removeOwnMap: (name) => answer(() => void maps.delete(name)),
      // The interfaces of the fake kernel do not include the loopback interface.
      readQueues: (name) => answer(() => (name === "lo" ? undefined : queuesOf(netdevs.find(name)))),
      setQueues: (name, count) =>
        answer(() => {
          const netdev = netdevs.find(name);
          const present = queuesOf(netdev);
          if (present === undefined) throw new Refusal("EOPNOTSUPP");
          if (count < 1)
            throw new Refusal("EINVAL", "requested channel counts would result in no RX channel being configured");
          if (count > present.max) throw new Refusal("EINVAL", "requested channel count exceeds maximum");
          netdevs.change(netdev, () => queues.set(netdev, count));
        }),
    },
  };
}
