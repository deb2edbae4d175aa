// SPDX-License-Identifier: Apache-2.0
/**
 * The network interfaces of the fake kernel, in all network namespaces.
 * Usage: `const netdevs = createNetdevs(emit); netdevs.add({ parent, mac, mtu: 1500, maxMtu: 9216 })`.
 */
import type { PciAddress } from "@switchyard/api";
import type { KernelEvent } from "../ports/kernel-events.ts";
import { Refusal } from "./refusal.ts";

/** One network interface. */
export interface Netdev {
  readonly index: number;
  /** The PCI function that it belongs to. */
  readonly parent: PciAddress;
  readonly maxMtu: number;
  readonly physPortName?: string;
  readonly physSwitchId?: string;
  name: string;
  altNames: string[];
  mac: string;
  mtu: number;
  adminUp: boolean;
  /** In a pod's network namespace, out of the host's sight. */
  inPod: boolean;
}

/** What a driver tells of the interface that it makes. */
export type NewNetdev = Pick<Netdev, "parent" | "maxMtu" | "mac" | "physPortName" | "physSwitchId">;

export interface Netdevs {
  /** A new interface, with the kernel's own name: the first free of eth0, eth1, ... */
  add(netdev: NewNetdev): Netdev;
  /** Removes the interfaces of a function, in whatever namespace. */
  removeOf(parent: PciAddress): void;
  /** The interfaces of a function that the host sees. */
  visibleOf(parent: PciAddress): readonly Netdev[];
  /** By name or alternative name, in the host's namespace. Refuses with ENODEV. */
  find(name: string): Netdev;
  /** All that the host sees, by ascending index. */
  listVisible(): readonly Netdev[];
  /** Changes an interface, and tells of it where the host sees it. */
  change(netdev: Netdev, apply: (netdev: Netdev) => void): void;
  /** Refuses with EEXIST for a name in use. */
  rename(netdev: Netdev, name: string): void;
  /** By the function, since a pod may have given its interface another name. */
  moveToPod(parent: PciAddress): void;
  returnFromPod(parent: PciAddress): void;
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
      netdev.adminUp = false; // an interface goes down when it changes its namespace
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
  };
}

function eventOf({ name, parent }: Netdev): KernelEvent {
  return { kind: "link", name, parent: { bus: "pci", name: parent } };
}
