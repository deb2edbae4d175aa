// SPDX-License-Identifier: Apache-2.0
/**
 * supportedNics lists the network cards that are known to work; it is upstream's list (sriov-operator.md J). The
 * ConfigMap "supported-nic-ids" repeats the list for programs that read it there, and adds cards to it.
 */

/** A card model. PCI IDs are in hexadecimal, in lower case, without 0x. */
export interface SupportedNic {
  readonly vendor: string;
  /** Device ID of its physical functions. */
  readonly pf: string;
  /** Device ID of its virtual functions. */
  readonly vf: string;
}

/** A card model of the built-in list. */
export interface NamedNic extends SupportedNic {
  /** Key of its row in the ConfigMap: "Intel_i40e_25G_SFP28" */
  readonly key: string;
  /** "Intel XXV710, 25 GbE SFP28" */
  readonly name: string;
}

/**
 * Rows of the ConfigMap by upstream's keys: the IDs of vendor, PF and VF, and the name on the card or in its data sheet.
 * An upgrade from upstream's chart finds the same keys, and supportedExtraNICs can replace a row.
 */
const rows = {
  Intel_i40e_XXV710: ["8086 158a 154c", "Intel XXV710, 25 GbE backplane"],
  Intel_i40e_25G_SFP28: ["8086 158b 154c", "Intel XXV710, 25 GbE SFP28"],
  Intel_i40e_10G_X710_SFP: ["8086 1572 154c", "Intel X710, 10 GbE SFP+"],
  Intel_ixgbe_10G_X550: ["8086 1563 1565", "Intel X550, 10GBASE-T"],
  Intel_ixgbe_82576: ["8086 10c9 10ca", "Intel 82576, 1 GbE"],
  Intel_i40e_X710_X557_AT_10G: ["8086 1589 154c", "Intel X710/X557-AT, 10GBASE-T"],
  Intel_i40e_10G_X710_BACKPLANE: ["8086 1581 154c", "Intel X710, 10 GbE backplane"],
  Intel_i40e_10G_X710_BASE_T: ["8086 15ff 154c", "Intel X710, 10GBASE-T"],
  Intel_i40e_XXV710_N3000: ["8086 0d58 154c", "Intel XXV710 on FPGA card N3000"],
  Intel_i40e_40G_XL710_QSFP: ["8086 1583 154c", "Intel XL710, 40 GbE QSFP+"],
  "Intel_ice_Columbiaville_E810-CQDA2_2CQDA2": ["8086 1592 1889", "Intel E810-C, QSFP (E810-CQDA2, 2CQDA2)"],
  "Intel_ice_Columbiaville_E810-XXVDA4": ["8086 1593 1889", "Intel E810-C, SFP (E810-XXVDA4)"],
  "Intel_ice_Columbiaville_E810-XXVDA2": ["8086 159b 1889", "Intel E810-XXV, SFP (E810-XXVDA2)"],
  "Intel_ice_Columbiaville_E810-XXV_BACKPLANE": ["8086 1599 1889", "Intel E810-XXV, backplane"],
  Intel_ice_Columbiaville_E810: ["8086 1591 1889", "Intel E810-C, backplane"],
  Intel_ice_Columbiapark_E823C: ["8086 188a 1889", "Intel E823-C, backplane"],
  Intel_ice_Columbiapark_E823L_SFP: ["8086 124d 1889", "Intel E823-L, SFP"],
  Intel_ice_Columbiapark_E823L_BACKPLANE: ["8086 124c 1889", "Intel E823-L, backplane"],
  Intel_ice_Columbiapark_E825C_BACKPLANE: ["8086 579c 1889", "Intel E825-C, backplane"],
  Intel_ice_Columbiapark_E825C_QSFP: ["8086 579d 1889", "Intel E825-C, QSFP"],
  Intel_ice_Columbiapark_E825C_SFP: ["8086 579e 1889", "Intel E825-C, SFP"],
  Intel_ice_Connorsville_E830_QSFP: ["8086 12d2 1889", "Intel E830-CC, QSFP"],
  Intel_ice_Connorsville_E830_SFP: ["8086 12d3 1889", "Intel E830-CC, SFP"],
  Intel_ice_Connorsville_E835CC_QSFP: ["8086 1249 1889", "Intel E835-CC, QSFP"],
  Intel_ice_Connorsville_E835CC_SFP: ["8086 124a 1889", "Intel E835-CC, SFP"],
  "Nvidia_mlx5_ConnectX-4": ["15b3 1013 1014", "Nvidia ConnectX-4"],
  "Nvidia_mlx5_ConnectX-4LX": ["15b3 1015 1016", "Nvidia ConnectX-4 Lx"],
  "Nvidia_mlx5_ConnectX-5": ["15b3 1017 1018", "Nvidia ConnectX-5"],
  "Nvidia_mlx5_ConnectX-5_Ex": ["15b3 1019 101a", "Nvidia ConnectX-5 Ex"],
  "Nvidia_mlx5_ConnectX-6": ["15b3 101b 101c", "Nvidia ConnectX-6"],
  "Nvidia_mlx5_ConnectX-6_Dx": ["15b3 101d 101e", "Nvidia ConnectX-6 Dx"],
  "Nvidia_mlx5_ConnectX-6_Lx": ["15b3 101f 101e", "Nvidia ConnectX-6 Lx"],
  "Nvidia_mlx5_ConnectX-7": ["15b3 1021 101e", "Nvidia ConnectX-7"],
  "Nvidia_mlx5_ConnectX-8": ["15b3 1023 101e", "Nvidia ConnectX-8"],
  "Nvidia_mlx5_ConnectX-9": ["15b3 1025 101e", "Nvidia ConnectX-9"],
  "Nvidia_mlx5_MT42822_BlueField-2_integrated_ConnectX-6_Dx": ["15b3 a2d6 101e", "Nvidia BlueField-2 (ConnectX-6 Dx)"],
  "Nvidia_mlx5_MT43244_BlueField-3_integrated_ConnectX-7_Dx": ["15b3 a2dc 101e", "Nvidia BlueField-3 (ConnectX-7)"],
  Broadcom_bnxt_BCM57414_2x25G: ["14e4 16d7 16dc", "Broadcom BCM57414, 10/25 GbE"],
  Broadcom_bnxt_BCM75508_2x100G: ["14e4 1750 1806", "Broadcom BCM57508, 100 GbE"],
  Qlogic_qede_QL45000_50G: ["1077 1654 1664", "QLogic QL45000, 50 GbE"],
  Red_Hat_Virtio_network_device: ["1af4 1000 1000", "Red Hat Virtio network device"],
  Red_Hat_Virtio_1_0_network_device: ["1af4 1041 1041", "Red Hat Virtio 1.0 network device"],
  Marvell_OCTEON_TX2_CN96XX: ["177d b200 b203", "Marvell OCTEON TX2 CN96XX"],
  Marvell_OCTEON_TX2_CN98XX: ["177d b100 b103", "Marvell OCTEON TX2 CN98XX"],
  Marvell_OCTEON_Fusion_CNF95XX: ["177d b600 b603", "Marvell OCTEON Fusion CNF95XX"],
  Marvell_OCTEON10_CN10XXX: ["177d b900 b903", "Marvell OCTEON 10 CN10XXX"],
  Marvell_OCTEON_Fusion_CNF105XX: ["177d ba00 ba03", "Marvell OCTEON Fusion CNF105XX"],
  Amazon_Elastic_Network_Adapter: ["1d0f ec20 ec20", "Amazon Elastic Network Adapter"],
} as const;

/** All supported cards, in upstream's order. */
export const supportedNics: readonly NamedNic[] = Object.entries(rows).flatMap(([key, [ids, name]]) => {
  const nic = parseNicRow(ids);
  return nic === undefined ? [] : [{ ...nic, key, name }];
});

/**
 * Parses a row of the ConfigMap "supported-nic-ids": "8086 158b 154c" has the IDs of vendor, PF and VF
 * (sriov-operator.md J). IDs have four hexadecimal digits, in lower or upper case. Undefined if the row is malformed.
 */
export function parseNicRow(text: string): SupportedNic | undefined {
  const [, vendor, pf, vf] = /^\s*([0-9a-f]{4})\s+([0-9a-f]{4})\s+([0-9a-f]{4})\s*$/.exec(text.toLowerCase()) ?? [];
  return vendor === undefined || pf === undefined || vf === undefined ? undefined : { vendor, pf, vf };
}
