// SPDX-License-Identifier: Apache-2.0
/**
 * PfRecords is the port for the records of PFs that Switchyard configures, /etc/sriov-operator/pci/<pciAddress>
 * (sriov-operator.md F.7). A record is written before the first change of its PF, so a killed daemon never leaves a changed PF
 * without a record. Records of the Go operator are valid records.
 */
import type { AfxdpInterfaceSpec, InterfaceSpec, PciAddress } from "@switchyard/api";

/** The record of one PF. */
export interface PfRecord {
  /** The spec that was applied last, or is being applied. */
  readonly spec: InterfaceSpec;
  /** State of the PF before its first configuration, which a reset restores; absent in files of the Go operator. */
  readonly initial?: { readonly mtu?: number; readonly eSwitchMode?: string };
  /** Firmware settings of the card that Switchyard changed, by name; absent in files of the Go operator. */
  readonly firmware?: Readonly<Record<string, FirmwareRecord>>;
  /** Names and alternative names of the PF since its first configuration; absent in files of the Go operator. */
  readonly names?: readonly string[];
  /** Vendor and device id of the card: "8086:158b"; absent in files of the Go operator. */
  readonly card?: string;
  /** GUIDs that Switchyard generated for InfiniBand VFs, by vfId. A VF that is created again gets the same GUID. */
  readonly guids?: Readonly<Record<string, string>>;
  /** MAC addresses that Switchyard generated for VFs that had none, by vfId. A VF that is created again gets the same address. */
  readonly macs?: Readonly<Record<string, string>>;
  /**
   * VFs whose MAC address is yet to be assigned, by vfId. NICs that show the VF's own address as the administrative one do not show
   * a lost assignment (i40e, ice, ixgbe, igb and bnxt_en, 6.12). Absent if all are assigned, or not known.
   */
  readonly unassignedMacs?: readonly number[];
  /** The settings of new VFs by vfId, and the boot_id of the boot in which the VFs were created. A VF that is not known is absent. */
  readonly initialVfs?: { readonly bootId: string; readonly vfs: Readonly<Record<string, InitialVf>> };
  /** Smallest number of VFs that could not be created for lack of memory space (ENOMEM); absent if none was refused. */
  readonly numVfsWithoutMemory?: number;
  /**
   * The last request for VFs of which the driver created only some, or which it refused (`error`) so that the former VFs were
   * created again; absent if it created all of them.
   */
  readonly fewerVfs?: { readonly requested: number; readonly created: number; readonly error?: string };
  /** The VFs before a change of their number or of the eswitch mode; absent when the change is done. A refusal creates them again. */
  readonly vfsBefore?: {
    readonly count: number;
    readonly vfs: readonly { readonly vfId: number; readonly driver?: string; readonly mac?: string }[];
  };
}

/**
 * The settings of a new VF by which VFs of one driver differ. All others are as the kernel sets them: no VLAN, no trust, no rates, the
 * link state of the port, no promiscuous mode.
 */
export interface InitialVf {
  /** The administrative MAC address; absent if none is assigned, or if the NIC stores none. */
  readonly adminMac?: string;
  /** "off", or absent if spoof checks are on or not known. */
  readonly spoofChk?: string;
  /** Name, MAC address and MTU of the interface; absent if the VF has none. The MTU is absent, too, if the spec has one. */
  readonly name?: string;
  readonly mac?: string;
  readonly mtu?: number;
}

/** A firmware setting before and after Switchyard changed it. */
export interface FirmwareRecord {
  readonly before: number;
  readonly after: number;
}

export interface PfRecords {
  /** Returns all records by PCI address. A file that is not a record is left out and passed to `onUnreadable` of the adapter. */
  list(): Promise<ReadonlyMap<PciAddress, PfRecord>>;
  /** Writes a record atomically and durably. Rejects with HostError: ENOSPC, EROFS. */
  save(pf: PciAddress, record: PfRecord): Promise<void>;
  /** Removes a record. No error if it does not exist. */
  remove(pf: PciAddress): Promise<void>;
}

/**
 * AfxdpRecords is the port for the records of devices that Switchyard configures for AF_XDP, /etc/sriov-operator/afxdp/DEVICE. As
 * with PfRecords, a record is written before the first change of its device, and with each subfunction before it is created.
 * The record of one device.
 */
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
