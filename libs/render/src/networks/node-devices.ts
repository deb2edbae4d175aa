// SPDX-License-Identifier: Apache-2.0
/**
 * linuxBridgesOf returns the Linux bridges that pods of a BridgeNetwork may be attached to. The proposal on software
 * bridges assumes that the plugin accelerated-bridge finds the bridge of a VF's PF by itself. In fact the plugin
 * searches only among the names in its configuration, and uses "cni0" if there are none (cnis.md 2.2).
 * Usage: `bridgeList(linuxBridgesOf("bridgednics", states))` is "br-0000_3b_00.0,br-0000_3b_00.1".
 */
import {
  isInterfaceName,
  type AfxdpNetworkNodeState,
  type LinuxBridge,
  type SriovNetworkNodeState,
} from "@switchyard/api";

/**
 * Returns the names of the bridges that policies create for PFs with VFs of the resource, on any node, sorted and
 * unique.
 */
export function linuxBridgesOf(
  resourceName: string,
  states: Iterable<Pick<SriovNetworkNodeState, "spec">>,
): readonly string[] {
  return [...new Set(bridgesWithVfs(resourceName, states).map(({ name }) => name))].sort();
}

/** Returns the bridges themselves: those of the same name on several nodes, too. */
export function bridgesWithVfs(
  resourceName: string,
  states: Iterable<Pick<SriovNetworkNodeState, "spec">>,
): readonly LinuxBridge[] {
  const found: LinuxBridge[] = [];
  for (const { spec } of states) {
    for (const bridge of spec?.bridges?.linux ?? []) {
      const hasVfs = (spec?.interfaces ?? []).some(({ pciAddress, vfGroups = [] }) => {
        const isUplink = (bridge.uplinks ?? []).some((uplink) => uplink.pciAddress === pciAddress);
        return isUplink && vfGroups.some((group) => group.resourceName === resourceName);
      });
      if (hasVfs) found.push(bridge);
    }
  }
  return found;
}

/**
 * Formats the names for the plugin; undefined if there are none. A single name is repeated: with one name the plugin
 * assumes that the PF is a port of that bridge, with two it checks.
 */
export function bridgeList(names: readonly string[]): string | undefined {
  const [first, ...more] = names;
  if (first === undefined) return undefined;
  return (more.length === 0 ? [first, first] : names).join(",");
}

export interface PoolDevices {
  /** Names of the devices that are not on the PCI bus, sorted and unique; one name if most nodes have it. */
  readonly names: readonly string[];
  /** Whether at least half of the nodes with devices of the pool have PCI devices or subfunctions. */
  readonly hasIds: boolean;
}

/**
 * poolDevicesOf returns how the CNI plugin host-device finds the devices of a pool. It finds a PCI device or a subfunction by the
 * id that the pod got, and any other network interface (veth, hv_netvsc) only by a name in its configuration. All nodes share this
 * configuration, and each reports its own devices, so most nodes decide: one that is broken or taken over must not change it.
 */
export function poolDevicesOf(poolName: string, states: Iterable<Pick<AfxdpNetworkNodeState, "spec">>): PoolDevices {
  const nodesByName = new Map<string, number>();
  let [withNames, withIds, withDevices] = [0, 0, 0];
  for (const { spec } of states) {
    const devices = (spec?.interfaces ?? []).filter((device) => device.poolName === poolName);
    const names = devices.flatMap(({ pciAddress, name = "" }) => (!pciAddress && isInterfaceName(name) ? [name] : []));
    const hasId = devices.some(({ pciAddress }) => Boolean(pciAddress));
    for (const name of new Set(names)) nodesByName.set(name, (nodesByName.get(name) ?? 0) + 1);
    if (names.length > 0) withNames++;
    if (hasId) withIds++;
    if (hasId || names.length > 0) withDevices++;
  }
  const common = [...nodesByName].find(([, count]) => count * 2 > withNames)?.[0];
  const names = common === undefined ? [...nodesByName.keys()].sort() : [common];
  return { names, hasIds: withIds > 0 && withIds * 2 >= withDevices };
}
