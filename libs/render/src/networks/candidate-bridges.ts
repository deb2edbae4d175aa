// SPDX-License-Identifier: Apache-2.0
/**
 * Which Linux bridges the pods of a BridgeNetwork may meet. The plugin accelerated-bridge does not look for the bridge of
 * a VF's PF by itself, as the proposal on software bridges has it: it looks among names that it is given, and takes
 * "cni0" where it is given none (cnis.md 2.2).
 * Usage: `bridgeList(linuxBridgesOf("bridgednics", states))` is "br-0000_3b_00.0,br-0000_3b_00.1".
 */
import type { SriovNetworkNodeState } from "@switchyard/api";

/** Names of the bridges that policies make for PFs with VFs of the resource, on any node; each once, sorted. */
export function linuxBridgesOf(
  resourceName: string,
  states: Iterable<Pick<SriovNetworkNodeState, "spec">>,
): readonly string[] {
  const names = new Set<string>();
  for (const { spec } of states) {
    for (const { name, uplinks = [] } of spec?.bridges?.linux ?? []) {
      const hasVfs = (spec?.interfaces ?? []).some(({ pciAddress, vfGroups = [] }) => {
        const isUplink = uplinks.some((uplink) => uplink.pciAddress === pciAddress);
        return isUplink && vfGroups.some((group) => group.resourceName === resourceName);
      });
      if (hasVfs) names.add(name);
    }
  }
  return [...names].sort();
}

/**
 * As the plugin takes them; undefined for none. A single one is named twice: of one name it believes that the PF is in
 * that bridge, of two it makes sure.
 */
export function bridgeList(names: readonly string[]): string | undefined {
  const [first, ...more] = names;
  if (first === undefined) return undefined;
  return (more.length === 0 ? [first, first] : names).join(",");
}
