// SPDX-License-Identifier: Apache-2.0
/**
 * countConfiguredVfs counts the VFs of each policy on one node that exist and have the right driver, for a metric.
 * Pure.
 * Usage: `const counts = countConfiguredVfs(spec, status, steps);`
 */
import type { SriovNetworkNodeStateSpec, SriovNetworkNodeStateStatus } from "@switchyard/api";
import { changedVfs, type Step } from "@switchyard/plan";
import { includesVf, parseVfRange } from "@switchyard/policy";

/** Number of VFs by policy name. Policies without such VFs are left out. */
export type ConfiguredVfs = Readonly<Record<string, number>>;

/** VFs that are about to be created again or bound to another driver do not count. */
export function countConfiguredVfs(
  spec: SriovNetworkNodeStateSpec,
  status: SriovNetworkNodeStateStatus,
  steps: readonly Step[],
): ConfiguredVfs {
  const changed = steps.flatMap((step) => changedVfs(step) ?? []);
  const recreated = new Set(changed.flatMap(({ pciAddress, vfId }) => (vfId === "all" ? [pciAddress] : [])));
  const unbound = new Set(changed.map(({ pciAddress, vfId }) => `${pciAddress} ${vfId}`));
  const found = new Map((status.interfaces ?? []).map((pf) => [pf.pciAddress, pf]));
  const counts = new Map<string, number>();
  for (const { pciAddress, vfGroups = [] } of spec.interfaces ?? []) {
    const pf = found.get(pciAddress);
    if (pf === undefined || recreated.has(pciAddress)) continue;
    for (const { policyName = "", vfRange = "", reservedFor } of vfGroups) {
      if (reservedFor !== undefined) continue; // of no policy
      const range = parseVfRange(vfRange);
      if (!range.ok) continue;
      const isConfigured = (vfId: number) => includesVf(range.value, vfId) && !unbound.has(`${pciAddress} ${vfId}`);
      const count = (pf.Vfs ?? []).filter(({ vfID }) => isConfigured(vfID)).length;
      if (count > 0) counts.set(policyName, (counts.get(policyName) ?? 0) + count);
    }
  }
  return Object.fromEntries(counts);
}
