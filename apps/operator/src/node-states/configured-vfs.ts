// SPDX-License-Identifier: Apache-2.0
/**
 * How many VFs each policy has on one node, as numbers: the VFs themselves are not kept. Pure.
 * Usage: `countConfiguredVfs(state.spec, state.status, plan(…).steps)`.
 */
import type { SriovNetworkNodeStateSpec, SriovNetworkNodeStateStatus } from "@switchyard/api";
import type { Step } from "@switchyard/plan";
import { parseVfRange } from "@switchyard/policy";

/** Counts by policy name; a policy without any is left out. */
export type VfCounts = Readonly<Record<string, number>>;

/** VFs of the groups that exist and have the driver asked for. Those of a PF whose count is about to change are none. */
export function countConfiguredVfs(
  spec: SriovNetworkNodeStateSpec,
  status: SriovNetworkNodeStateStatus,
  steps: readonly Step[],
): VfCounts {
  const leaving = new Set(steps.flatMap((step) => (step.kind === "set-num-vfs" ? [step.pciAddress] : [])));
  const unbound = new Set(
    steps.flatMap((step) => (step.kind === "bind-driver" ? [`${step.pciAddress} ${step.vfId}`] : [])),
  );
  const found = new Map((status.interfaces ?? []).map((pf) => [pf.pciAddress, pf]));
  const counts = new Map<string, number>();
  for (const { pciAddress, vfGroups = [] } of spec.interfaces ?? []) {
    const pf = found.get(pciAddress);
    if (pf === undefined || leaving.has(pciAddress)) continue;
    for (const { policyName = "", vfRange = "" } of vfGroups) {
      const range = parseVfRange(vfRange);
      if (!range.ok) continue;
      const { first, last } = range.value;
      const isConfigured = (vfId: number) => first <= vfId && vfId <= last && !unbound.has(`${pciAddress} ${vfId}`);
      const count = (pf.Vfs ?? []).filter(({ vfID }) => isConfigured(vfID)).length;
      if (count > 0) counts.set(policyName, (counts.get(policyName) ?? 0) + count);
    }
  }
  return Object.fromEntries(counts);
}
