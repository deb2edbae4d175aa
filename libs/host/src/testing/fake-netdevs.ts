// SPDX-License-Identifier: Apache-2.0
/** Implements the network interfaces of the fake kernel in all network namespaces. */
import { defined, type PciAddress } from "@switchyard/api";
import type { KernelEvent } from "../ports/kernel.ts";
import type { VlanProtocol } from "../ports/linux-bridges.ts";
import type { XdpProgram } from "../ports/xdp.ts";
import { Refusal } from "./faults.ts";

/** One network interface. */
export interface Netdev {
  readonly index: number;
  /** PCI function of the interface; absent for virtual interfaces. */
  readonly parent?: PciAddress;
  /** Whether a virtio device is between the interface and its function. Events name it instead of the function. */
  readonly isVirtio?: boolean;
  /** Auxiliary device of the interface of a subfunction. */
  readonly auxiliary?: string;
  /** "bridge", "vlan", "bond"; absent for hardware. */
  readonly kind?: string;
  /** Index of the interface below a VLAN. */
  readonly lowerIndex?: number;
  readonly maxMtu: number;
  readonly physPortName?: string;
  readonly physSwitchId?: string;
  /** The VF that the interface represents on the host, or that it represents a subfunction; absent if it is not a representor. */
  readonly representorOf?: PciAddress | "subfunction";
  /** Features that are on. */
  readonly features: Set<string>;
  /** Properties in the database of udev. */
  properties: ReadonlyMap<string, string>;
  name: string;
  altNames: string[];
  mac: string;
  mtu: number;
  adminUp: boolean;
  promiscuous: boolean;
  /** In the network namespace of a pod, and therefore not visible on the host. */
  inPod: boolean;
  /** Index of the bridge or bond of which the interface is a port. */
  masterIndex: number | undefined;
  /** What a bridge has. */
  bridge: FakeBridge | undefined;
  /** Settings as a port of a bridge. */
  portSettings: Readonly<Record<string, number>>;
  xdpProgram: XdpProgram | undefined;
}

/** The state of a bridge. */
export interface FakeBridge {
  readonly isOwn: boolean;
  readonly isComplete: boolean;
  readonly vlanFiltering: boolean;
  readonly vlanProtocol: VlanProtocol;
}

/** The values that a driver gives to a new interface, which has a PCI function or an auxiliary device. */
export type NewNetdev = Pick<
  Netdev,
  "parent" | "isVirtio" | "auxiliary" | "maxMtu" | "mac" | "physPortName" | "physSwitchId" | "representorOf"
>;

/** A new virtual interface. */
export interface NewVirtualNetdev extends Pick<Netdev, "lowerIndex"> {
  readonly name: string;
  readonly kind: string;
  readonly bridge?: FakeBridge;
}

export interface Netdevs {
  /** Adds an interface with the first free name of eth0, eth1 and so on. */
  add(netdev: NewNetdev): Netdev;
  /** Adds a virtual interface, which is down. Throws Refusal EEXIST if the name is in use. */
  addVirtual(netdev: NewVirtualNetdev): Netdev;
  /** Removes an interface and the VLANs on it, and makes its ports independent. */
  remove(netdev: Netdev): void;
  /** Removes the interfaces of a function in all namespaces. */
  removeOf(parent: PciAddress): void;
  /** Removes the representor of a VF, if it has one. */
  removeRepresentor(vf: PciAddress): void;
  /** Returns the interfaces of a function that are visible on the host. */
  visibleOf(parent: PciAddress): readonly Netdev[];
  /** Finds an interface of the host by name or alternative name. Throws Refusal ENODEV. */
  find(name: string): Netdev;
  /** Returns all interfaces that are visible on the host, by ascending index. */
  listVisible(): readonly Netdev[];
  /** Changes an interface, and emits an event if it is visible on the host. */
  change(netdev: Netdev, apply: (netdev: Netdev) => void): void;
  /** Changes the interfaces of a function in all namespaces. */
  changeOf(parent: PciAddress, change: Partial<Pick<Netdev, "name" | "mac" | "mtu" | "promiscuous">>): void;
  /** Throws Refusal EEXIST if the name is in use. */
  rename(netdev: Netdev, name: string): void;
  /** Takes the function, because a pod may have renamed the interface. */
  moveToPod(parent: PciAddress): void;
  returnFromPod(parent: PciAddress): void;
  /** Moves one interface, such as that of a subfunction, and returns a function that moves it back. */
  moveOneToPod(netdev: Netdev): () => void;
  /** Reports whether any interface is in a pod. */
  hasPods(): boolean;
}

export function createNetdevs(emit: (event: KernelEvent) => void): Netdevs {
  const all = new Map<number, Netdev>();
  let nextIndex = 2; // 1 is the loopback interface

  function tell(netdev: Netdev) {
    if (!netdev.inPod) emit(eventOf(netdev));
  }

  function lookUp(name: string): Netdev | undefined {
    return listVisible().find((netdev) => netdev.name === name || netdev.altNames.includes(name));
  }

  function freeName(): string {
    const taken = new Set(listVisible().flatMap(({ name, altNames }) => [name, ...altNames]));
    for (let n = 0; ; n++) if (!taken.has(`eth${n}`)) return `eth${n}`;
  }

  function of(parent: PciAddress): readonly Netdev[] {
    return [...all.values()].filter((netdev) => netdev.parent === parent);
  }

  function listVisible(): readonly Netdev[] {
    return [...all.values()].filter(({ inPod }) => !inPod);
  }

  function change(netdev: Netdev, apply: (netdev: Netdev) => void): void {
    apply(netdev);
    tell(netdev);
  }

  function move(parent: PciAddress, toPod: boolean): void {
    for (const netdev of of(parent)) moveOne(netdev, toPod);
  }

  function moveOne(netdev: Netdev, toPod: boolean): void {
    if (netdev.inPod === toPod) return;
    if (!toPod && lookUp(netdev.name) !== undefined) netdev.name = freeName();
    netdev.inPod = toPod;
    netdev.adminUp = false; // the kernel sets an interface down when it changes its namespace
    emit(eventOf(netdev));
  }

  function remove(netdev: Netdev): void {
    for (const other of all.values()) {
      if (other.masterIndex === netdev.index) release(other);
      if (other.lowerIndex === netdev.index) remove(other);
    }
    all.delete(netdev.index);
    tell(netdev);
  }

  function release(port: Netdev): void {
    change(port, (released) => {
      released.masterIndex = undefined;
      released.portSettings = {};
    });
  }

  return {
    add(netdev) {
      const index = nextIndex++;
      const added = { ...netdev, ...initial(), index, name: freeName(), altNames: [] };
      all.set(index, added);
      tell(added);
      return added;
    },
    addVirtual({ bridge, ...netdev }) {
      if (lookUp(netdev.name) !== undefined) throw new Refusal("EEXIST");
      const index = nextIndex++;
      const added = { ...netdev, ...initial(), bridge, index, altNames: [], mac: "02:00:00:00:ff:01", maxMtu: 65_535 };
      all.set(index, added);
      tell(added);
      return added;
    },
    remove,
    removeOf(parent) {
      for (const netdev of of(parent)) remove(netdev);
    },
    removeRepresentor(vf) {
      for (const netdev of all.values()) if (netdev.representorOf === vf) remove(netdev);
    },
    visibleOf: (parent) => of(parent).filter(({ inPod }) => !inPod),
    find(name) {
      const found = lookUp(name);
      if (found === undefined) throw new Refusal("ENODEV");
      return found;
    },
    listVisible,
    change,
    changeOf(parent, changes) {
      for (const netdev of of(parent)) change(netdev, (changed) => Object.assign(changed, changes));
    },
    rename(netdev, name) {
      const holder = lookUp(name);
      if (holder !== undefined && holder !== netdev) throw new Refusal("EEXIST");
      change(netdev, (renamed) => {
        renamed.name = name;
      });
    },
    moveToPod: (parent) => {
      move(parent, true);
    },
    returnFromPod: (parent) => {
      move(parent, false);
    },
    moveOneToPod(netdev) {
      moveOne(netdev, true);
      return () => {
        if (all.has(netdev.index)) moveOne(netdev, false);
      };
    },
    hasPods: () => [...all.values()].some(({ inPod }) => inPod),
  };
}

const initial = () => ({
  mtu: 1_500,
  adminUp: false,
  promiscuous: false,
  inPod: false,
  masterIndex: undefined,
  bridge: undefined,
  portSettings: {},
  xdpProgram: undefined,
  features: new Set<string>(),
  properties: new Map<string, string>(),
});

function eventOf(netdev: Netdev): KernelEvent {
  const parent = netdev.isVirtio ? { bus: "virtio", name: `virtio${netdev.index}` } : deviceOf(netdev);
  return { kind: "link", name: netdev.name, ...defined({ parent }) };
}

/** Returns the device of an interface; undefined for virtual interfaces. */
export function deviceOf({ parent, auxiliary }: Netdev): KernelEventParent | undefined {
  if (auxiliary !== undefined) return { bus: "auxiliary", name: auxiliary };
  return parent && { bus: "pci", name: parent };
}

interface KernelEventParent {
  readonly bus: string;
  readonly name: string;
}
