// SPDX-License-Identifier: Apache-2.0
/**
 * How many VFs a SmartNIC can have, and how many a policy of ovn-offload requests by default.
 * Usage: `const numVfs = defaultSmartNicVfs(cards.map(smartNicVfLimit), 1);`
 */
import type { SmartNic } from "@switchyard/policy";
import { mostVfs } from "./pf-problems.ts";

/** VFs of each PF of a card. */
export interface SmartNicVfLimit {
  /** The smallest number that a PF of the card reports. */
  readonly reported: number;
  /** The largest number that each of them can have, with firmware settings that the config daemon can change. */
  readonly most: number;
}

export function smartNicVfLimit({ pfs }: SmartNic): SmartNicVfLimit {
  return {
    reported: Math.min(...pfs.map(({ totalvfs = 0 }) => totalvfs)),
    most: Math.min(...pfs.map(mostVfs)),
  };
}

/**
 * Returns the number of VFs that all cards report, so that no firmware setting has to change; at most 16. It returns 0 if no card can
 * have the management ports and one more VF.
 */
export function defaultSmartNicVfs(limits: readonly SmartNicVfLimit[], managementVfs: number): number {
  const needed = managementVfs + 1;
  // A card that cannot have the VFs is reported, and does not decide for the others.
  const usable = limits.filter(({ most }) => most >= needed);
  if (usable.length === 0) return 0;
  // Where the firmware has to change anyway, it can get the usual number.
  const each = usable.map(({ reported, most }) => (reported >= needed ? reported : most));
  return Math.min(Math.max(usualNumVfs, needed), ...each);
}

/**
 * Returns why the card cannot have the VFs that OVN needs: the management ports, and one for pods. Undefined if it can.
 */
export function smartNicVfProblem(card: SmartNic, managementVfs: number): string | undefined {
  const { slot, pfs } = card;
  const { most } = smartNicVfLimit(card);
  const needed = managementVfs + 1;
  if (most >= needed) return undefined;
  const supported = most === 1 ? "1 VF" : `${most} VFs`;
  const ports = managementVfs === 1 ? "1 of them as management port" : `${managementVfs} of them as management ports`;
  const why = pfs.map(({ firmware }) => firmware?.unavailable).find((text) => text !== undefined);
  return (
    `the SmartNIC ${slot.slice(0, maxSlot)} supports ${supported} on each port, but OVN needs ${needed}, ${ports}: ` +
    `set SRIOV_EN=1 and NUM_OF_VFS in its firmware with mlxconfig${why === undefined ? "" : ` (${why.slice(0, maxReason)})`}`
  );
}

/** Number of VFs of a new policy, if all cards can have them. */
const usualNumVfs = 16;

/** Limits what a node can put into a message. */
const maxSlot = 16;
const maxReason = 80;
