// SPDX-License-Identifier: Apache-2.0
/**
 * The network cards that are known to work, as upstream ships them (sriov-operator.md J). A cluster adds its own by the
 * ConfigMap "supported-nic-ids", whose values are rows like these: nic-table.ts.
 */

/** One card: PCI ids in hexadecimal, lower case, without 0x. */
export interface SupportedNic {
  readonly vendor: string;
  /** Of its physical functions. */
  readonly pf: string;
  /** Of their virtual functions. */
  readonly vf: string;
}

/** Vendor, PF and VF, then the card's name in upstream's ConfigMap. */
const rows = [
  ["8086", "158a", "154c", "Intel_i40e_XXV710"],
  ["8086", "158b", "154c", "Intel_i40e_25G_SFP28"],
  ["8086", "1572", "154c", "Intel_i40e_10G_X710_SFP"],
  ["8086", "1563", "1565", "Intel_ixgbe_10G_X550"],
  ["8086", "10c9", "10ca", "Intel_ixgbe_82576"],
  ["8086", "1589", "154c", "Intel_i40e_X710_X557_AT_10G"],
  ["8086", "1581", "154c", "Intel_i40e_10G_X710_BACKPLANE"],
  ["8086", "15ff", "154c", "Intel_i40e_10G_X710_BASE_T"],
  ["8086", "0d58", "154c", "Intel_i40e_XXV710_N3000"],
  ["8086", "1583", "154c", "Intel_i40e_40G_XL710_QSFP"],
  ["8086", "1592", "1889", "Intel_ice_Columbiaville_E810-CQDA2_2CQDA2"],
  ["8086", "1593", "1889", "Intel_ice_Columbiaville_E810-XXVDA4"],
  ["8086", "159b", "1889", "Intel_ice_Columbiaville_E810-XXVDA2"],
  ["8086", "1599", "1889", "Intel_ice_Columbiaville_E810-XXV_BACKPLANE"],
  ["8086", "1591", "1889", "Intel_ice_Columbiaville_E810"],
  ["8086", "188a", "1889", "Intel_ice_Columbiapark_E823C"],
  ["8086", "124d", "1889", "Intel_ice_Columbiapark_E823L_SFP"],
  ["8086", "124c", "1889", "Intel_ice_Columbiapark_E823L_BACKPLANE"],
  ["8086", "579c", "1889", "Intel_ice_Columbiapark_E825C_BACKPLANE"],
  ["8086", "579d", "1889", "Intel_ice_Columbiapark_E825C_QSFP"],
  ["8086", "579e", "1889", "Intel_ice_Columbiapark_E825C_SFP"],
  ["8086", "12d2", "1889", "Intel_ice_Connorsville_E830_QSFP"],
  ["8086", "12d3", "1889", "Intel_ice_Connorsville_E830_SFP"],
  ["8086", "1249", "1889", "Intel_ice_Connorsville_E835CC_QSFP"],
  ["8086", "124a", "1889", "Intel_ice_Connorsville_E835CC_SFP"],
  ["15b3", "1013", "1014", "Nvidia_mlx5_ConnectX-4"],
  ["15b3", "1015", "1016", "Nvidia_mlx5_ConnectX-4LX"],
  ["15b3", "1017", "1018", "Nvidia_mlx5_ConnectX-5"],
  ["15b3", "1019", "101a", "Nvidia_mlx5_ConnectX-5_Ex"],
  ["15b3", "101b", "101c", "Nvidia_mlx5_ConnectX-6"],
  ["15b3", "101d", "101e", "Nvidia_mlx5_ConnectX-6_Dx"],
  ["15b3", "101f", "101e", "Nvidia_mlx5_ConnectX-6_Lx"],
  ["15b3", "1021", "101e", "Nvidia_mlx5_ConnectX-7"],
  ["15b3", "1023", "101e", "Nvidia_mlx5_ConnectX-8"],
  ["15b3", "1025", "101e", "Nvidia_mlx5_ConnectX-9"],
  ["15b3", "a2d6", "101e", "Nvidia_mlx5_MT42822_BlueField-2_integrated_ConnectX-6_Dx"],
  ["15b3", "a2dc", "101e", "Nvidia_mlx5_MT43244_BlueField-3_integrated_ConnectX-7_Dx"],
  ["14e4", "16d7", "16dc", "Broadcom_bnxt_BCM57414_2x25G"],
  ["14e4", "1750", "1806", "Broadcom_bnxt_BCM75508_2x100G"],
  ["1077", "1654", "1664", "Qlogic_qede_QL45000_50G"],
  ["1af4", "1000", "1000", "Red_Hat_Virtio_network_device"],
  ["1af4", "1041", "1041", "Red_Hat_Virtio_1_0_network_device"],
  ["177d", "b200", "b203", "Marvell_OCTEON_TX2_CN96XX"],
  ["177d", "b100", "b103", "Marvell_OCTEON_TX2_CN98XX"],
  ["177d", "b600", "b603", "Marvell_OCTEON_Fusion_CNF95XX"],
  ["177d", "b900", "b903", "Marvell_OCTEON10_CN10XXX"],
  ["177d", "ba00", "ba03", "Marvell_OCTEON_Fusion_CNF105XX"],
  ["1d0f", "ec20", "ec20", "Amazon_Elastic_Network_Adapter"],
] as const;

/** All of them, in upstream's order. */
export const supportedNics: readonly SupportedNic[] = rows.map(([vendor, pf, vf]) => ({ vendor, pf, vf }));
