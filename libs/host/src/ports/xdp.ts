// SPDX-License-Identifier: Apache-2.0
/**
 * Xdp is the port for what network interfaces support of XDP, for their devices and queues, and for the XDP programs that are
 * attached to them. The device plugin attaches programs, and pins their maps before.
 */
import type { PciAddress } from "@switchyard/api";

/** What the driver of an interface supports. */
export interface XdpFeatures {
  /** Index of the interface. */
  readonly index: number;
  /** Whether the driver runs XDP programs itself. Otherwise, the kernel does, more slowly. */
  readonly native: boolean;
  /** Whether the driver supports AF_XDP sockets without copying packets. */
  readonly zeroCopy: boolean;
}

/** An XDP program that is attached to an interface. */
export interface XdpProgram {
  readonly id: number;
  /** "switchyard_xsk", "xdp_dispatcher"; absent if the program has no name. */
  readonly name?: string;
  readonly mode: "native" | "generic" | "offloaded";
  /** Whether Switchyard attached it. */
  readonly isOwn: boolean;
}

/** The device of a network interface, of which a virtual interface has nothing. */
export interface NetDevice {
  /** "igb", "virtio_net", "mlx5_core.sf". */
  readonly driver?: string;
  /** The PCI function that the device is, or is part of, as the device of virtio or of a subfunction. */
  readonly pciAddress?: PciAddress;
  /** Of the PCI function, four hexadecimal digits. */
  readonly vendor?: string;
  /** Of the PCI function, four hexadecimal digits. */
  readonly deviceId?: string;
  /** Absent if the device belongs to no NUMA node. */
  readonly numaNode?: number;
}

/** The queues of an interface that receive packets. */
export interface Queues {
  readonly count: number;
  /** Largest number that the driver supports. */
  readonly max: number;
}

/** Rejects with HostError only: ENODEV if the interface does not exist. */
export interface Xdp {
  /** Returns the features of all interfaces; an empty list if the kernel does not report them (before Linux 6.3). */
  listFeatures(): Promise<readonly XdpFeatures[]>;
  readDevice(name: string): Promise<NetDevice>;
  /** Returns the attached programs, one for each mode at most. */
  readPrograms(name: string): Promise<readonly XdpProgram[]>;
  /** Detaches the programs of Switchyard. No error if there is none. Programs of others stay. */
  detachOwnPrograms(name: string): Promise<void>;
  /** Returns the names that devices had on the host when Switchyard pinned maps for them, sorted. */
  listOwnMaps(): Promise<readonly string[]>;
  /** Removes the pinned map of a device. No error if there is none. */
  removeOwnMap(name: string): Promise<void>;
  /** Returns undefined if the driver does not report its queues. */
  readQueues(name: string): Promise<Queues | undefined>;
  /** EINVAL for more queues than the driver supports, EOPNOTSUPP if it cannot change them. May interrupt the link. */
  setQueues(name: string, count: number): Promise<void>;
}
