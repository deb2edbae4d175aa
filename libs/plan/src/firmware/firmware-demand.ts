// SPDX-License-Identifier: Apache-2.0
/**
 * Computes which firmware settings the ports of one Mellanox card need (sriov-operator.md F.8): one NUM_OF_VFS for the card,
 * which is the largest number of all ports, SRIOV_EN, and a LINK_TYPE for each port.
 * Usage: `const demands = firmwareDemands(ports);`
 */
import type { FirmwareStatus, InterfaceSpec, InterfaceStatus } from "@switchyard/api";
import { firmwareDisabledReason, type FirmwarePolicy } from "@switchyard/policy";
import { isVirtualNic } from "../pf/virtual-nic.ts";
import type { FirmwareChange } from "../steps/firmware.ts";
import { isMellanox } from "../pf/pf-problems.ts";

/** A port of the card that a policy selects. */
export interface WantedPort {
  readonly pf: InterfaceStatus;
  readonly spec: InterfaceSpec;
  /** Path of `spec` in the NodeState: "spec.interfaces[0]". */
  readonly field: string;
}

/** One firmware setting that the spec depends on. */
export interface FirmwareDemand {
  readonly name: keyof FirmwareChange;
  readonly value: number;
  /** Whether the port cannot be configured now because of the setting, as far as the kernel shows it. */
  readonly isNeeded: boolean;
  /** Value that the firmware uses, and value after the next reset; undefined if not reported. */
  readonly current: number | undefined;
  readonly next: number | undefined;
  /** Reports whether a value of the setting is enough. */
  readonly isEnough: (value: number) => boolean;
  readonly field: string;
  readonly pciAddress: string;
  /** "32 VFs", "link type IB". */
  readonly wanted: string;
}

export const linkTypeNumbers: ReadonlyMap<string, number> = new Map([
  ["IB", 1],
  ["ETH", 2],
  ["VPI", 3],
]);

/** `ports` are the ports of one card that are in the spec and not externally managed. */
export function firmwareDemands(ports: readonly WantedPort[]): readonly FirmwareDemand[] {
  return [...vfDemands(ports), ...ports.flatMap(linkTypeDemand)];
}

function vfDemands(ports: readonly WantedPort[]): readonly FirmwareDemand[] {
  const [most] = ports.toSorted((a, b) => (b.spec.numVfs ?? 0) - (a.spec.numVfs ?? 0));
  const numVfs = most?.spec.numVfs ?? 0;
  if (most === undefined || numVfs === 0) return [];
  const { numVfs: count, sriovEnabled: enabled } = firmwareOf(ports) ?? {};
  // sriov_totalvfs is the judge and not the firmware: a card can have a limit for each of its functions in other settings.
  const isNeeded = ports.some(({ pf, spec }) => (spec.numVfs ?? 0) > (pf.totalvfs ?? 0));
  // A capability with VFs shows that SR-IOV is on, also before the firmware was read.
  const isSriovOn = enabled === undefined && ports.some(({ pf }) => (pf.totalvfs ?? 0) > 0);
  const about = {
    isNeeded,
    field: `${most.field}.numVfs`,
    pciAddress: most.pf.pciAddress,
    wanted: `${numVfs} ${numVfs === 1 ? "VF" : "VFs"}`,
  };
  return [
    // More VFs than needed are enough: lowering numVfs must not reboot the node (sriov-operator.md M-47).
    {
      ...about,
      name: "NUM_OF_VFS",
      value: numVfs,
      isEnough: (value) => value >= numVfs,
      current: count?.current,
      next: count?.next,
    },
    {
      ...about,
      isNeeded: isNeeded && !isSriovOn,
      name: "SRIOV_EN",
      value: 1,
      isEnough: (value) => value === 1,
      current: toNumber(enabled?.current),
      next: toNumber(enabled?.next),
    },
  ];
}

function linkTypeDemand({ pf, spec, field }: WantedPort): readonly FirmwareDemand[] {
  const wanted = spec.linkType?.toUpperCase() ?? "";
  const value = linkTypeNumbers.get(wanted);
  const name = linkTypeNames.get(pf.pciAddress.slice(-2));
  if (value === undefined || name === undefined) return [];
  const { current, next } = pf.firmware?.linkType ?? {};
  const present = pf.linkType || current;
  return [
    {
      name,
      value,
      isEnough: (other: number) => other === value,
      isNeeded: present !== undefined && present.toUpperCase() !== wanted,
      current: linkTypeNumbers.get(current ?? ""),
      next: linkTypeNumbers.get(next ?? ""),
      field: `${field}.linkType`,
      pciAddress: pf.pciAddress,
      wanted: `link type ${wanted}`,
    },
  ];
}

/** Setting of a port by the function in its PCI address. */
const linkTypeNames: ReadonlyMap<string, "LINK_TYPE_P1" | "LINK_TYPE_P2"> = new Map([
  [".0", "LINK_TYPE_P1"],
  [".1", "LINK_TYPE_P2"],
]);

/** Returns what the first port reports for the whole card. */
function firmwareOf(ports: readonly WantedPort[]): FirmwareStatus | undefined {
  return ports.find(({ pf }) => pf.firmware !== undefined)?.pf.firmware;
}

function toNumber(flag: boolean | undefined): number | undefined {
  return flag === undefined ? undefined : Number(flag);
}

/**
 * withExpectedFirmware adds the firmware settings that Mellanox cards probably have, for predictions: a config daemon reads them
 * only once a policy concerns the card.
 * Returns the PFs; those of Mellanox cards without `firmware` get the values that their limit of VFs and link type show.
 */
export function withExpectedFirmware(
  pfs: readonly InterfaceStatus[],
  policy: FirmwarePolicy,
): readonly InterfaceStatus[] {
  return pfs.map((pf) =>
    pf.firmware === undefined && isMellanox(pf) && !isVirtualNic(pf)
      ? { ...pf, firmware: expectedFirmware(pf, policy) }
      : pf,
  );
}

function expectedFirmware(
  { totalvfs = 0, linkType }: InterfaceStatus,
  { isDisabled, isResetAllowed }: FirmwarePolicy,
): FirmwareStatus {
  if (isDisabled) return { unavailable: firmwareDisabledReason };
  const same = <T>(value: T): { readonly current: T; readonly next: T } => ({ current: value, next: value });
  return {
    numVfs: same(totalvfs),
    sriovEnabled: same(totalvfs > 0),
    ...(linkType && { linkType: same(linkType.toUpperCase()) }),
    resetAllowed: isResetAllowed,
  };
}
