// SPDX-License-Identifier: Apache-2.0
/** The profiles of a simulated fleet: the NICs of its nodes as their daemons report them. Pure. */
import type { InterfaceStatus, VfStatus } from "@switchyard/api";

export interface FleetProfile {
  readonly pfs: number;
  /** Number of VFs that each PF has at the start. */
  readonly vfsPerPf: number;
  /** numVfs of the policies, before and after the change. */
  readonly numVfs: number;
  readonly changedNumVfs: number;
}

export const profiles = {
  /** Six PFs per node without VFs. */
  pf6: { pfs: 6, vfsPerPf: 0, numVfs: 8, changedNumVfs: 6 },
  /** Large node states: 256 VFs are 60 KB of JSON per node. */
  vf256: { pfs: 2, vfsPerPf: 128, numVfs: 128, changedNumVfs: 120 },
} as const satisfies Record<string, FleetProfile>;

export type ProfileName = keyof typeof profiles;

export const profileNames = Object.keys(profiles).filter((name): name is ProfileName => name in profiles);

/** The name of the PF with this index, which is the same on every node. */
export function pfName(pf: number): string {
  return `ens${pf + 1}f0`;
}

/** status.interfaces of node number `node`. Nodes differ in their MAC addresses only. */
export function interfacesOf({ pfs, vfsPerPf }: FleetProfile, node: number): readonly InterfaceStatus[] {
  return Array.from({ length: pfs }, (_, pf) => ({
    pciAddress: pciAddress(pf, 0),
    name: pfName(pf),
    mac: mac(node, pf, 0),
    driver: "i40e",
    vendor: "8086",
    deviceID: "158b",
    mtu: 1500,
    maxMtu: 9702,
    numVfs: vfsPerPf,
    totalvfs: 128,
    linkSpeed: "25000 Mb/s",
    linkType: "ETH",
    linkAdminState: "up",
    eSwitchMode: "legacy",
    ...(vfsPerPf === 0 ? {} : { Vfs: Array.from({ length: vfsPerPf }, (_, vf) => vfOf(node, pf, vf)) }),
  }));
}

function vfOf(node: number, pf: number, vf: number): VfStatus {
  return {
    pciAddress: pciAddress(pf, vf + 16),
    vfID: vf,
    name: `${pfName(pf)}v${vf}`,
    mac: mac(node, pf, vf + 1),
    adminMac: mac(node, pf, vf + 1),
    driver: "iavf",
    vendor: "8086",
    deviceID: "154c",
    mtu: 1500,
  };
}

/** The address of the function with this number on the PF's bus. */
function pciAddress(pf: number, routingId: number): string {
  return `0000:${hex(0x3b + pf)}:${hex(routingId >> 3)}.${routingId & 7}`;
}

function mac(node: number, pf: number, device: number): string {
  return `02:${hex(node >> 8)}:${hex(node & 255)}:${hex(pf)}:${hex(device >> 8)}:${hex(device & 255)}`;
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}
