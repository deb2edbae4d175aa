// SPDX-License-Identifier: Apache-2.0
/**
 * Xdp is the port for what network interfaces support of XDP, for their queues, and for the XDP programs that are attached to
 * them. The device plugin attaches programs.
 */

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
  /** Returns the attached programs, one for each mode at most. */
  readPrograms(name: string): Promise<readonly XdpProgram[]>;
  /** Detaches the programs of Switchyard. No error if there is none. Programs of others stay. */
  detachOwnPrograms(name: string): Promise<void>;
  /** Returns undefined if the driver does not report its queues. */
  readQueues(name: string): Promise<Queues | undefined>;
  /** EINVAL for more queues than the driver supports, EOPNOTSUPP if it cannot change them. May interrupt the link. */
  setQueues(name: string, count: number): Promise<void>;
}
