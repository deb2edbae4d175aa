// SPDX-License-Identifier: Apache-2.0
/**
 * usageOf counts the VFs in ResourceSlices of each node: how many claims have, how many have a taint that keeps new claims away, and
 * how many are free. The sentence is for people.
 */
import { taints } from "@switchyard/api";
import type { PublishedVf } from "./published-vfs.ts";

/**
 * Why claims must not have a VF.
 * "held": a pod has it from a device plugin. "offered": the device plugin offers it. "unknown-holder": the kubelet does not say who has
 * it. "published": another driver publishes it. "moving": the node returns to the device plugin, and a claim still has the VF. The others
 * are those of a device plugin: see advertise().
 */
export type DraWithheldReason =
  | "held"
  | "offered"
  | "unknown-holder"
  | "published"
  | "moving"
  | "draining"
  | "changing"
  | "stale"
  | "not-configured"
  | "no-interface"
  | "no-bridge"
  | "bridge-down"
  | "unclean";

export interface VfUsage {
  readonly node: string;
  readonly total: number;
  /** VFs that have a taint, whether a claim has them or not. */
  readonly tainted: number;
  readonly free: number;
  /** "node worker-1: claims apps/a and apps/b have 2 of 4 VFs; 1 VF is withheld: …". */
  readonly sentence: string;
}

/** By the name of the node. Without `namesClaims`, the sentences name no claims, which can be those of other namespaces. */
export function usageOf(
  vfs: readonly PublishedVf[],
  { namesClaims = true }: { readonly namesClaims?: boolean } = {},
): readonly VfUsage[] {
  return [...Map.groupBy(vfs, ({ node }) => node)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([node, all]) => {
      const claimed = all.filter(({ claims }) => claims.length > 0);
      const tainted = all.filter((vf) => vf.taints.length > 0);
      const withheld = tainted.filter(({ claims }) => claims.length === 0);
      const free = all.length - claimed.length - withheld.length;
      const parts = [claimedText(claimed, all.length, namesClaims), ...withheldTexts(withheld), freeText(free)];
      return { node, total: all.length, tainted: tainted.length, free, sentence: `node ${node}: ${parts.join("; ")}` };
    });
}

function claimedText(claimed: readonly PublishedVf[], total: number, namesClaims: boolean): string {
  const claims = [...new Set(claimed.flatMap((vf) => vf.claims))].sort();
  const named =
    claims.length === 0 || !namesClaims ? "" : ` (${claims.slice(0, 5).join(", ")}${claims.length > 5 ? ", …" : ""})`;
  return `claims have ${claimed.length} of ${total === 1 ? "1 VF" : `${total} VFs`}${named}`;
}

function withheldTexts(withheld: readonly PublishedVf[]): readonly string[] {
  const byTaint = Map.groupBy(withheld, ({ taints: [first] }) => (first === undefined ? "" : taintText(first)));
  return [...byTaint].map(([taint, { length }]) =>
    length === 1 ? `1 VF has the taint ${taint}` : `${length} VFs have the taint ${taint}`,
  );
}

function freeText(free: number): string {
  return free === 1 ? "1 VF is free" : `${free} VFs are free`;
}

function taintText({ key, value }: PublishedVf["taints"][number]): string {
  const meaning = key === taints.vfWithheld || key === taints.unhealthy ? meanings.get(value) : undefined;
  const taint = value === "" ? key : `${key}=${value}`;
  return meaning === undefined ? taint : `${taint} (${meaning})`;
}

/** Of taints.vfWithheld. */
const withheldMeanings: Readonly<Record<DraWithheldReason, string>> = {
  held: "in use by a pod of the device plugin",
  offered: "offered by the device plugin",
  "unknown-holder": "the kubelet does not say which pods have VFs",
  published: "published by another driver, too",
  moving: "the node returns to the device plugin",
  draining: "the config daemon drains the node or its VFs for a change",
  changing: "about to be created again or bound to another driver",
  stale: "the kernel and the node state differ",
  "not-configured": "not configured since the node started",
  "no-interface": "no network interface",
  "no-bridge": "the bridge of the PF does not exist yet",
  "bridge-down": "ovs-vswitchd does not run on the node",
  unclean: "settings of a past pod are not reset yet",
};

/** Of taints.unhealthy. */
const healthMeanings: Readonly<Record<string, string>> = {
  "no-carrier": "no carrier: check the cable and the switch",
  "driver-lost": "the driver was lost",
  "device-error": "the driver says by devlink that the card has failed: see devlink health show",
  "pcie-errors": "the card has reported uncorrectable PCIe errors: see dmesg",
  "pf-gone": "the PF does not exist any longer",
  "vf-gone": "the VF does not exist any longer",
};

const meanings = new Map([...Object.entries(withheldMeanings), ...Object.entries(healthMeanings)]);
