// SPDX-License-Identifier: Apache-2.0
/**
 * poolDevicesOf returns how the CNI plugin host-device finds the devices of a pool. It finds a PCI device or a subfunction by the id
 * that the pod got, and any other network interface (veth, hv_netvsc) only by a name in its configuration.
 * Usage: `poolDevicesOf("fast", states)` is `{ names: ["eth1"], hasIds: false }`.
 */
import { isInterfaceName, type AfxdpNetworkNodeState } from "@switchyard/api";

export interface PoolDevices {
  /** Names of the devices that are not on the PCI bus, on any node, sorted and unique. */
  readonly names: readonly string[];
  /** Whether the pool has PCI devices or subfunctions. */
  readonly hasIds: boolean;
}

export function poolDevicesOf(poolName: string, states: Iterable<Pick<AfxdpNetworkNodeState, "spec">>): PoolDevices {
  const names = new Set<string>();
  let hasIds = false;
  for (const { spec } of states) {
    for (const { pciAddress, name, poolName: pool } of spec?.interfaces ?? []) {
      if (pool !== poolName) continue;
      if (pciAddress) hasIds = true;
      else if (name !== undefined && isInterfaceName(name)) names.add(name);
    }
  }
  return { names: [...names].sort(), hasIds };
}
