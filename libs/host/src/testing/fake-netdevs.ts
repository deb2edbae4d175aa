// SPDX-License-Identifier: Apache-2.0
/**
 * Implements the network interfaces of the fake kernel in all network namespaces.
 * Usage: `const netdevs = createNetdevs(emit); netdevs.add({ parent, mac, maxMtu: 9216 })`.
 */
import type { PciAddress } from "@switchyard/api";
import type { KernelEvent } from "../ports/kernel-events.ts";
import { Refusal } from "./refusal.ts";

/** One network interface. */
export interface Netdev {
  readonly index: number;
  /** PCI function of the interface. */
  readonly parent: PciAddress;
  readonly maxMtu: number;
  readonly physPortName?: string;
  readonly physSwitchId?: string;
  name: string;
  altNames: string[];
  mac: string;
  mtu: number;
  adminUp: boolean;
  /** In the network namespace of a pod, and therefore not visible on the host. */
  inPod: boolean;
}

/** The values that a driver gives to a new interface. */
export type NewNetdev = Pick<Netdev, "parent" | "maxMtu" | "mac" | "physPortName" | "physSwitchId">;

export interface Netdevs {
  /** Adds an interface with the first free name of eth0, eth1 and so on. */
  add(netdev: NewNetdev): Netdev;
  /** Removes the interfaces of a function in all namespaces. */
  removeOf(parent: PciAddress): void;
  /** Returns the interfaces of a function that are visible on the host. */
  visibleOf(parent: PciAddress): readonly Netdev[];
  /** Finds an interface of the host by name or alternative name. Throws Refusal ENODEV. */
  find(name: string): Netdev;
  /** Returns all interfaces that are visible on the host, by ascending index. */
  listVisible(): readonly Netdev[];
  /** Changes an interface, and emits an event if it is visible on the host. */
  change(netdev: Netdev, apply: (netdev: Netdev) => void): void;
  /** Throws Refusal EEXIST if the name is in use. */
  rename(netdev: Netdev, name: string): void;
  /** Takes the function, because a pod may have renamed the interface. */
  moveToPod(parent: PciAddress): void;
  returnFromPod(parent: PciAddress): void;
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
    for (const netdev of of(parent).filter(({ inPod }) => inPod !== toPod)) {
      if (!toPod && lookUp(netdev.name) !== undefined) netdev.name = freeName();
      netdev.inPod = toPod;
      netdev.adminUp = false; // the kernel sets an interface down when it changes its namespace
      emit(eventOf(netdev));
    }
  }

  return {
    add(netdev) {
      const index = nextIndex++;
      const added = { ...netdev, index, name: freeName(), altNames: [], mtu: 1_500, adminUp: false, inPod: false };
      all.set(index, added);
      tell(added);
      return added;
    },
    removeOf(parent) {
      for (const netdev of of(parent)) {
        all.delete(netdev.index);
        tell(netdev);
      }
    },
    visibleOf: (parent) => of(parent).filter(({ inPod }) => !inPod),
    find(name) {
      const found = lookUp(name);
      if (found === undefined) throw new Refusal("ENODEV");
      return found;
    },
    listVisible,
    change,
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
    hasPods: () => [...all.values()].some(({ inPod }) => inPod),
  };
}

function eventOf({ name, parent }: Netdev): KernelEvent {
  return { kind: "link", name, parent: { bus: "pci", name: parent } };
}
