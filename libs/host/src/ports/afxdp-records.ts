// SPDX-License-Identifier: Apache-2.0
/**
 * AfxdpRecords is the port for the records of devices that Switchyard configures for AF_XDP, /etc/sriov-operator/afxdp/DEVICE. As
 * with PfRecords, a record is written before the first change of its device, and with each subfunction before it is created.
 */
import type { AfxdpInterfaceSpec } from "@switchyard/api";

/** The record of one device. */
export interface AfxdpRecord {
  /** The spec that was applied last, or is being applied. */
  readonly spec: AfxdpInterfaceSpec;
  /** State of the device before its first configuration, which a reset restores. */
  readonly initial?: { readonly mtu?: number; readonly queues?: number; readonly eSwitchMode?: string };
  /** Numbers of the subfunctions that Switchyard created or was about to create. Others are not removed. */
  readonly subfunctions?: readonly number[];
  /** MAC addresses that Switchyard chose for its subfunctions, by number. A subfunction that is created again keeps its address. */
  readonly macs?: Readonly<Record<string, string>>;
  /** Names and alternative names of the device since its first configuration. */
  readonly names?: readonly string[];
  /** Vendor and device id of the card: "15b3:1017"; absent in records of older releases, and of devices that are no card. */
  readonly card?: string;
  /** The address that the card has from its manufacturer; absent if it has none, and in records of older releases. */
  readonly permanentMac?: string;
  /** The card that had the record before: "8086:1592, 02:00:00:00:00:01". */
  readonly replacedCard?: string;
}

/** Devices are PCI addresses, or names of interfaces without one. Rejects with HostError: EINVAL for other values. */
export interface AfxdpRecords {
  /** Returns all records by device. A file that is not a record is left out and passed to `onUnreadable` of the adapter. */
  list(): Promise<ReadonlyMap<string, AfxdpRecord>>;
  /** Writes a record atomically and durably. ENOSPC, EROFS. */
  save(device: string, record: AfxdpRecord): Promise<void>;
  /** Removes a record. No error if it does not exist. */
  remove(device: string): Promise<void>;
}
