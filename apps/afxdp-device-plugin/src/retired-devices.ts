// SPDX-License-Identifier: Apache-2.0
/**
 * retiredDevices decides which devices stay in the pool that they were in, while a pod may have them. A pod knows its device by the
 * resource, the socket and the user of the pool in which it was when the pod got it. Pure.
 * Usage: `const next = { ...record, pools, retired: retiredDevices(record, pools) };`
 */
import type { NodePool } from "./pools/node-pools.ts";
import type { PluginRecord, RetiredDevice } from "./record.ts";

/**
 * Returns the devices of the record that are in none of the next pools, or in one with another name or another access, with the pool
 * that they were in first. The caller releases them when no pod has them.
 */
export function retiredDevices(
  { pools, retired }: Pick<PluginRecord, "pools" | "retired">,
  next: readonly NodePool[],
): readonly RetiredDevice[] {
  const nextPools = new Map(next.flatMap((pool) => pool.devices.map(({ name }) => [name, pool] as const)));
  const before = new Map(retired.map((device) => [device.name, device]));
  for (const { devices, ...pool } of pools) {
    for (const { id, name } of devices) if (!before.has(name)) before.set(name, { id, name, pool });
  }
  return [...before.values()].filter(({ name, pool }) => !hasSameAccess(pool, nextPools.get(name)));
}

function hasSameAccess(before: RetiredDevice["pool"], next: RetiredDevice["pool"] | undefined): boolean {
  return (
    next !== undefined &&
    next.name === before.name &&
    next.uid === before.uid &&
    next.hasSocket === before.hasSocket &&
    next.hasPinnedMap === before.hasPinnedMap
  );
}
