// SPDX-License-Identifier: Apache-2.0
/**
 * preferDevices chooses devices for a container: those that it must have, then as many as possible of one NUMA node.
 * Usage: `preferDevices({ available: ["a", "b"], required: [], count: 1 }, devices)`.
 */
import type { PluginDevice, PreferenceRequest } from "@switchyard/kubelet";

/** Returns `count` devices, or all that are available. */
export function preferDevices(
  { available, required, count }: PreferenceRequest,
  devices: readonly PluginDevice[],
): readonly string[] {
  const nodeOf = new Map(devices.map(({ id, numaNode }) => [id, numaNode]));
  const free = available.filter((id) => !required.includes(id)).sort();
  const freeOn = (node: number | undefined): number => free.filter((id) => nodeOf.get(id) === node).length;
  const missing = Math.max(count - required.length, 0);
  const requiredNodes = new Set(required.map((id) => nodeOf.get(id)));

  // First the nodes of required devices, then the smallest node that has enough, so that large requests still find room.
  const rank = (node: number | undefined): number => {
    if (requiredNodes.has(node)) return -1;
    const room = freeOn(node);
    return room >= missing ? room : 2 * free.length - room;
  };
  const order = [...new Set(free.map((id) => nodeOf.get(id)))].sort((a, b) => rank(a) - rank(b));
  return [...required, ...order.flatMap((node) => free.filter((id) => nodeOf.get(id) === node)).slice(0, missing)];
}
