// SPDX-License-Identifier: Apache-2.0
/**
 * VF groups: how the wishes of several policies for one PF become one (sriov-operator.md B.6).
 * Usage: `const weak = mergePf(undefined, first, false); const merged = mergePf(weak, second, samePriority);`
 */
import type { InterfaceSpec, InterfaceStatus, SriovNetworkNodePolicy, VfGroup } from "@switchyard/api";
import { formatVfRange, overlaps, parseVfRange, type VfRange } from "./vf-range.ts";

/** What one policy wants of one PF. */
export interface PfWish {
  readonly policy: SriovNetworkNodePolicy;
  readonly nic: InterfaceStatus;
  /** The VFs that are for the policy's resource. */
  readonly vfs: VfRange;
}

/**
 * The PF as `wish` leaves it; `older` is what the policies before made of it, undefined for the first.
 *
 * The wish's group comes first. Older groups stay behind it unless they are of the same resource or share a VF with it:
 * those go as a whole. Link type, eswitch mode and externallyManaged are the wish's. So are numVfs and mtu, unless an
 * older group stays or `equalPriority` says that the policy before was as strong: then the larger one holds. Hence a
 * strong policy that takes all VFs can lower numVfs.
 *
 * Keys whose value is zero or empty are left out, as the omitempty of upstream's types does.
 */
export function mergePf(older: InterfaceSpec | undefined, wish: PfWish, equalPriority: boolean): InterfaceSpec {
  const { policy, nic } = wish;
  const { linkType, eSwitchMode, externallyManaged } = policy.spec;
  const group = groupOf(wish);
  const kept = (older?.vfGroups ?? []).filter((other) => !isDisplaced(other, group, wish.vfs));
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
    vfGroups: [group, ...kept],
  };
}

function groupOf({ policy, vfs }: PfWish): VfGroup {
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
