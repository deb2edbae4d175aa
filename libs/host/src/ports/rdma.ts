// SPDX-License-Identifier: Apache-2.0
/**
 * Rdma is the port for the RDMA subsystem (ib_core).
 */
import type { Guid, PciAddress } from "@switchyard/api";

/** RDMA devices are visible in all network namespaces (shared), or each in one (exclusive). */
export type RdmaMode = "shared" | "exclusive";

export interface RdmaDevice {
  /** "mlx5_0". */
  readonly name: string;
  /** The PCI function of the device; absent for software devices. */
  readonly pciAddress?: PciAddress;
  /** "0c42:a103:0016:054c"; all zeros if the device has none. */
  readonly nodeGuid: string;
}

/** Rejects with HostError only. */
export interface Rdma {
  /** Returns undefined if ib_core is not loaded, or too old to have modes (before Linux 5.2). Never loads ib_core. */
  readMode(): Promise<RdmaMode | undefined>;
  /** EBUSY while any other network namespace exists, EPROTONOSUPPORT if ib_core is not loaded. Never loads ib_core. */
  setMode(mode: RdmaMode): Promise<void>;
  /** Returns the devices by name. In exclusive mode, devices in other network namespaces are left out. */
  listDevices(): Promise<readonly RdmaDevice[]>;
  /**
   * Sets the node GUID and the port GUID of an InfiniBand VF. The RDMA device of the VF gets them when a driver binds to the VF
   * the next time. EOPNOTSUPP if the PF has no GUIDs, ENODEV if there is no such interface, EINVAL if the VF does not exist.
   */
  setVfGuid(pfName: string, vfId: number, guid: Guid): Promise<void>;
}
