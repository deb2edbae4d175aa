// SPDX-License-Identifier: Apache-2.0
/**
 * Subfunctions is the port for subfunctions: parts of a PF that have a network interface each, without a PCI function of their
 * own. They are created by devlink, and their drivers are bound on the auxiliary bus.
 */
import type { MacAddress, PciAddress } from "@switchyard/api";

/** A subfunction of a PF of this host. */
export interface Subfunction {
  readonly pf: PciAddress;
  /** Index of its port at the PF, by which the other methods identify it. */
  readonly portIndex: number;
  /** Number that was chosen at its creation (sfnum). Unique on the PF. */
  readonly sfNumber: number;
  /** Address that was assigned; all zero, or an address that the driver chose, before. Absent if the driver does not report it. */
  readonly mac?: string;
  /** What was requested. */
  readonly state: "inactive" | "active";
  /** Whether a driver uses it now. */
  readonly operationalState: "detached" | "attached";
  /** Its device on the auxiliary bus, "mlx5_core.sf.4". Its number is not sfNumber. Absent while there is none. */
  readonly device?: string;
  /** Driver of the device, "mlx5_core.sf"; absent while none is bound. */
  readonly driver?: string;
  /** Its network interface; absent while there is none in the network namespace of the daemon. */
  readonly netdev?: string;
  /** Network interface that represents it at the PF; absent as for netdev. */
  readonly representor?: string;
}

/** Rejects with HostError only. Its `words` are those of the driver. ENODEV for a PF without devlink instance. */
export interface Subfunctions {
  /** Returns the subfunctions of all PFs by ascending address and sfNumber. Those of another host, as on a SmartNIC, are left out. */
  list(): Promise<readonly Subfunction[]>;
  /** Returns how many subfunctions the PF can have; undefined if its driver does not report a limit. */
  readLimit(pf: PciAddress): Promise<number | undefined>;
  /**
   * Creates an inactive subfunction and returns the index of its port. EBUSY or EEXIST if the number is in use, EOPNOTSUPP if the
   * driver has no subfunctions, or not in legacy mode; ENOSPC if the PF has all its subfunctions.
   */
  create(pf: PciAddress, sfNumber: number): Promise<number>;
  /** EBUSY while the subfunction is active, ENODEV without such a port, EOPNOTSUPP if the driver chooses the address. */
  setMac(pf: PciAddress, portIndex: number, mac: MacAddress): Promise<void>;
  /** Its device appears and disappears during the call, or later with some drivers. ENODEV without such a port. */
  setActive(pf: PciAddress, portIndex: number, active: boolean): Promise<void>;
  /** EBUSY while the subfunction is active, ENODEV without such a port. */
  remove(pf: PciAddress, portIndex: number): Promise<void>;
}
