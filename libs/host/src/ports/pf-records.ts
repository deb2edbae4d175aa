// SPDX-License-Identifier: Apache-2.0
/**
 * Port: the record of PFs that we configured, /etc/sriov-operator/pci/<pciAddress> (sriov-operator.md F.7). It is
 * written before the act, so whatever a killed daemon left behind is known to be ours. Upstream's files are read as they are.
 */
import type { InterfaceSpec, PciAddress } from "@switchyard/api";

/** One PF's record. */
export interface PfRecord {
  /** The spec that was applied last, or is about to be. */
  readonly spec: InterfaceSpec;
  /** What the PF was like before we touched it first, to be restored; absent in upstream's files. */
  readonly initial?: { readonly mtu?: number; readonly eSwitchMode?: string };
  /** Names and alternative names that the PF has had since it is ours; absent in upstream's files. */
  readonly names?: readonly string[];
  /** Vendor and device id, "8086:158b", of the card that the record is about; absent in upstream's files. */
  readonly card?: string;
}

export interface PfRecords {
  /** All records by PCI address. A file that is no record is left out and told by `onUnreadable` of the adapter. */
  list(): Promise<ReadonlyMap<PciAddress, PfRecord>>;
  /** Atomic and durable (written beside, synced, renamed). Rejects with HostError: ENOSPC, EROFS. */
  save(pf: PciAddress, record: PfRecord): Promise<void>;
  /** No error where there is none. */
  remove(pf: PciAddress): Promise<void>;
}
