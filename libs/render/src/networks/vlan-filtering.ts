// SPDX-License-Identifier: Apache-2.0
/**
 * A BridgeNetwork with VLANs needs a Linux bridge that filters by VLAN. On another bridge the kernel ignores the VLANs that the
 * plugin accelerated-bridge sets on the ports, so pods of different VLANs share one segment (cnis.md 2.2). The plugin neither sets
 * vlan_filtering nor checks it.
 * Usage: `vlanFilteringProblems(network.spec, "the Linux bridges br0 do not")`.
 */
import type { BridgeNetworkSpec, SriovNetworkNodePolicy, SriovNetworkNodeState } from "@switchyard/api";
import { isPfBridgeName } from "@switchyard/policy";
import { bridgesWithVfs } from "./node-devices.ts";
import type { NetworkProblem } from "./network-texts.ts";

/** Returns the names of the network's bridges that policies create without VLAN filtering, on any node, sorted and unique. */
export function unfilteredBridgesOf(
  { resourceName, bridge }: Pick<BridgeNetworkSpec, "resourceName" | "bridge">,
  states: Iterable<Pick<SriovNetworkNodeState, "spec">>,
): readonly string[] {
  const named = namesIn(bridge);
  const found = bridgesWithVfs(resourceName, states).filter(({ name, bridge: settings }) => {
    return settings?.vlanFiltering !== true && (named.length === 0 || named.includes(name));
  });
  return [...new Set(found.map(({ name }) => name))].sort();
}

/** Returns the names of the policies that create bridges without VLAN filtering for the network. */
export function unfilteredBridgePolicies(
  { resourceName, bridge }: Pick<BridgeNetworkSpec, "resourceName" | "bridge">,
  policies: readonly SriovNetworkNodePolicy[],
): readonly string[] {
  const named = namesIn(bridge);
  // Bridges with other names were not created by a policy, so nothing is known about them.
  if (named.length > 0 && !named.some(isPfBridgeName)) return [];
  return policies
    .filter(({ spec }) => spec.resourceName === resourceName && spec.bridge?.linux !== undefined)
    .filter(({ spec }) => spec.bridge?.linux?.bridge?.vlanFiltering !== true)
    .map(({ metadata }) => metadata.name)
    .sort();
}

/** Returns one problem for each field with VLANs. `cause`: "the Linux bridge br0 does not". */
export function vlanFilteringProblems(
  { vlan, trunk = [], resourceName }: Pick<BridgeNetworkSpec, "vlan" | "trunk" | "resourceName">,
  cause: string,
): readonly NetworkProblem[] {
  const fields = [...(vlan ? ["spec.vlan"] : []), ...(trunk.length > 0 ? ["spec.trunk"] : [])];
  const message =
    `needs a bridge that filters by VLAN, but ${cause}, so pods of all VLANs would share one segment: set ` +
    `spec.bridge.linux.bridge.vlanFiltering to true in each SriovNetworkNodePolicy with resourceName ${resourceName}`;
  return fields.map((field) => ({ code: "no-vlan-filtering", field, message }));
}

/** "the Linux bridge br0 does not", "the Linux bridges br0, br1 and 3 more do not". */
export function unfilteredBridgesText(names: readonly string[]): string {
  if (names.length === 1) return `the Linux bridge ${names.join()} does not`;
  const more = names.length - maxNames;
  return `the Linux bridges ${names.slice(0, maxNames).join(", ")}${more > 0 ? ` and ${more} more` : ""} do not`;
}

/** A fleet has a bridge for each slot. */
const maxNames = 4;

function namesIn(bridge = ""): readonly string[] {
  return bridge
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
