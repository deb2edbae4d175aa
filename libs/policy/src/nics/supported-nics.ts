// SPDX-License-Identifier: Apache-2.0
/**
 * supportedNics lists the network cards that are known to work; it is upstream's list (sriov-operator.md J). The
 * ConfigMap "supported-nic-ids" adds cards to it.
 */

/** A card model. PCI IDs are in hexadecimal, in lower case, without 0x. */
export interface SupportedNic {
  readonly vendor: string;
  /** Device ID of its physical functions. */
  readonly pf: string;
  /** Device ID of its virtual functions. */
  readonly vf: string;
}

/** A card model with its name. */
export interface NamedNic extends SupportedNic {
  /** "Intel XXV710, 25 GbE SFP28" */
  readonly name: string;
}

/** Vendor ID, PF device ID, VF device ID, and the name on the card or in its data sheet. */
const rows = [
  ["8086", "158a", "154c", "Intel XXV710, 25 GbE backplane"],
  ["8086", "158b", "154c", "Intel XXV710, 25 GbE SFP28"],
  ["8086", "1572", "154c", "Intel X710, 10 GbE SFP+"],
  ["8086", "1563", "1565", "Intel X550, 10GBASE-T"],
  ["8086", "10c9", "10ca", "Intel 82576, 1 GbE"],
  ["8086", "1589", "154c", "Intel X710/X557-AT, 10GBASE-T"],
  ["8086", "1581", "154c", "Intel X710, 10 GbE backplane"],
  ["8086", "15ff", "154c", "Intel X710, 10GBASE-T"],
  ["8086", "0d58", "154c", "Intel XXV710 on FPGA card N3000"],
  ["8086", "1583", "154c", "Intel XL710, 40 GbE QSFP+"],
  ["8086", "1592", "1889", "Intel E810-C, QSFP (E810-CQDA2, 2CQDA2)"],
  ["8086", "1593", "1889", "Intel E810-C, SFP (E810-XXVDA4)"],
  ["8086", "159b", "1889", "Intel E810-XXV, SFP (E810-XXVDA2)"],
  ["8086", "1599", "1889", "Intel E810-XXV, backplane"],
  ["8086", "1591", "1889", "Intel E810-C, backplane"],
  ["8086", "188a", "1889", "Intel E823-C, backplane"],
  ["8086", "124d", "1889", "Intel E823-L, SFP"],
  ["8086", "124c", "1889", "Intel E823-L, backplane"],
  ["8086", "579c", "1889", "Intel E825-C, backplane"],
  ["8086", "579d", "1889", "Intel E825-C, QSFP"],
  ["8086", "579e", "1889", "Intel E825-C, SFP"],
  ["8086", "12d2", "1889", "Intel E830-CC, QSFP"],
  ["8086", "12d3", "1889", "Intel E830-CC, SFP"],
  ["8086", "1249", "1889", "Intel E835-CC, QSFP"],
  ["8086", "124a", "1889", "Intel E835-CC, SFP"],
  ["15b3", "1013", "1014", "Nvidia ConnectX-4"],
  ["15b3", "1015", "1016", "Nvidia ConnectX-4 Lx"],
  ["15b3", "1017", "1018", "Nvidia ConnectX-5"],
  ["15b3", "1019", "101a", "Nvidia ConnectX-5 Ex"],
  ["15b3", "101b", "101c", "Nvidia ConnectX-6"],
  ["15b3", "101d", "101e", "Nvidia ConnectX-6 Dx"],
  ["15b3", "101f", "101e", "Nvidia ConnectX-6 Lx"],
  ["15b3", "1021", "101e", "Nvidia ConnectX-7"],
  ["15b3", "1023", "101e", "Nvidia ConnectX-8"],
  ["15b3", "1025", "101e", "Nvidia ConnectX-9"],
  ["15b3", "a2d6", "101e", "Nvidia BlueField-2 (ConnectX-6 Dx)"],
  ["15b3", "a2dc", "101e", "Nvidia BlueField-3 (ConnectX-7)"],
  ["14e4", "16d7", "16dc", "Broadcom BCM57414, 10/25 GbE"],
  ["14e4", "1750", "1806", "Broadcom BCM57508, 100 GbE"],
  ["1077", "1654", "1664", "QLogic QL45000, 50 GbE"],
  ["1af4", "1000", "1000", "Red Hat Virtio network device"],
  ["1af4", "1041", "1041", "Red Hat Virtio 1.0 network device"],
  ["177d", "b200", "b203", "Marvell OCTEON TX2 CN96XX"],
  ["177d", "b100", "b103", "Marvell OCTEON TX2 CN98XX"],
  ["177d", "b600", "b603", "Marvell OCTEON Fusion CNF95XX"],
  ["177d", "b900", "b903", "Marvell OCTEON 10 CN10XXX"],
  ["177d", "ba00", "ba03", "Marvell OCTEON Fusion CNF105XX"],
  ["1d0f", "ec20", "ec20", "Amazon Elastic Network Adapter"],
] as const;

/** All supported cards, in upstream's order. */
export const supportedNics: readonly NamedNic[] = rows.map(([vendor, pf, vf, name]) => ({ vendor, pf, vf, name }));

/**
 * parseNicRow parses rows of the ConfigMap "supported-nic-ids": "8086 158b 154c" has the IDs of vendor, PF and VF
 * (sriov-operator.md J).
 * Parses a row; undefined if it is malformed. IDs have four hexadecimal digits, in lower or upper case.
 */
export function parseNicRow(text: string): SupportedNic | undefined {
  const [, vendor, pf, vf] = /^\s*([0-9a-f]{4})\s+([0-9a-f]{4})\s+([0-9a-f]{4})\s*$/.exec(text.toLowerCase()) ?? [];
  return vendor === undefined || pf === undefined || vf === undefined ? undefined : { vendor, pf, vf };
}
