// SPDX-License-Identifier: Apache-2.0
/**
 * mergePf combines what several policies request for one PF into one InterfaceSpec with VF groups
 * (sriov-operator.md B.6).
 */
import type { InterfaceSpec, InterfaceStatus, SriovNetworkNodePolicy, VfGroup } from "@switchyard/api";
import { formatVfRange, overlaps, parseVfRange, type VfRange } from "./vf-range.ts";

/** What one policy requests for one PF. */
interface PfRequest {
  readonly policy: SriovNetworkNodePolicy;
  readonly nic: InterfaceStatus;
  /** The VFs that the policy's resource gets; undefined if all VFs that it requests are reserved. */
  readonly vfs: VfRange | undefined;
}

/**
 * Applies `request` to `older`, the result of the policies before it (undefined for the first policy).
 *
 * The request's group becomes the first group. Older groups follow it, except those that have the same resource or
 * share a VF with it; they are dropped completely. Link type, eswitch mode and externallyManaged are the request's.
 * numVfs and mtu are also the request's, unless an older group remains or the previous policy has the same priority
 * (`equalPriority`): then the larger value is used. So a policy of higher priority can lower numVfs if it takes all
 * VFs.
 *
 * A request without VFs has no group and drops none.
 *
 * Keys with a zero or empty value are omitted, as upstream's types do (omitempty).
 */
export function mergePf(older: InterfaceSpec | undefined, request: PfRequest, equalPriority: boolean): InterfaceSpec {
  const { policy, nic, vfs } = request;
  const { linkType, eSwitchMode, externallyManaged } = policy.spec;
  const group = vfs && groupOf(policy, vfs);
  const kept = (older?.vfGroups ?? []).filter((other) => !group || !isDisplaced(other, group, vfs));
  const isShared = equalPriority || kept.length > 0;
  const numVfs = Math.max(policy.spec.numVfs, isShared ? (older?.numVfs ?? 0) : 0);
  const mtu = Math.max(policy.spec.mtu ?? 0, isShared ? (older?.mtu ?? 0) : 0);
  return {
    pciAddress: nic.pciAddress,
    numVfs,
    ...(mtu && { mtu }),
    ...(nic.name && { name: nic.name }),
    ...(linkType && { linkType }),
    ...(eSwitchMode && { eSwitchMode }),
    ...(externallyManaged && { externallyManaged }),
    vfGroups: [...(group ? [group] : []), ...kept],
  };
}

function groupOf(policy: SriovNetworkNodePolicy, vfs: VfRange): VfGroup {
  const { resourceName, deviceType, mtu, isRdma, vdpaType, needVhostNet, excludeTopology } = policy.spec;
  return {
    ...(resourceName && { resourceName }),
    ...(deviceType && { deviceType }),
    vfRange: formatVfRange(vfs),
    policyName: policy.metadata.name,
    ...(mtu && { mtu }),
    ...(isRdma && { isRdma }),
    ...(vdpaType && { vdpaType }),
    ...(needVhostNet && { needVhostNet }),
    ...(excludeTopology && { excludeTopology }),
  };
}

function isDisplaced(older: VfGroup, newer: VfGroup, vfs: VfRange): boolean {
  if (older.resourceName === newer.resourceName) return true;
  const range = parseVfRange(older.vfRange ?? "");
  return range.ok && overlaps(range.value, vfs);
}
