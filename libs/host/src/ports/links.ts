// SPDX-License-Identifier: Apache-2.0
/**
 * Port: network interfaces (rtnetlink) of the daemon's network namespace.
 */
import type { MacAddress } from "@switchyard/api";

/** A network interface. */
export interface Link {
  readonly index: number;
  readonly name: string;
  readonly altNames: readonly string[];
  /** Lower-case bytes with colons; six for Ethernet, twenty for InfiniBand; "" for none. */
  readonly mac: string;
  readonly mtu: number;
  /** Largest MTU that the device takes; absent where the driver tells none. */
  readonly maxMtu?: number;
  readonly adminUp: boolean;
  readonly type: "ether" | "infiniband" | "other";
  /** Device it belongs to: bus "pci", name "0000:01:00.0"; absent for virtual interfaces. */
  readonly parent?: { readonly bus: string; readonly name: string };
  /** "p0", "pf0vf3"; absent where the driver has none (EOPNOTSUPP on read). */
  readonly physPortName?: string;
  /** Hexadecimal; the same on all ports of one embedded switch. */
  readonly physSwitchId?: string;
  /** What the PF holds of each of its VFs, by ascending vfId. */
  readonly vfs: readonly LinkVf[];
}

/** One VF as its PF's link shows it. */
export interface LinkVf {
  readonly vfId: number;
  /**
   * Assigned by the PF, or (igb, i40e) the one that the VF's own driver told it: the two cannot be told apart. All zero
   * where there is neither.
   */
  readonly mac: string;
  /** 0 is none. */
  readonly vlan: number;
}

/** Network interfaces. Rejects with HostError only; its `words` are the kernel's extended ack. */
export interface Links {
  /** All interfaces, VF details included, by ascending index. */
  listLinks(): Promise<readonly Link[]>;
  /** In Mb/s; undefined while the link is down or the driver does not say. */
  readSpeedMbps(name: string): Promise<number | undefined>;
  /** ENODEV when there is no such interface. */
  setMtu(name: string, mtu: number): Promise<void>;
  setAdminUp(name: string, up: boolean): Promise<void>;
  /**
   * The VF's address as its PF assigns it. Takes effect on the VF when its driver binds next, and on igb only if the PF's
   * interface is up then (seen on 6.12). EINVAL for a VF that there is not, EOPNOTSUPP where there can be none.
   */
  setVfMac(pfName: string, vfId: number, mac: MacAddress): Promise<void>;
}
