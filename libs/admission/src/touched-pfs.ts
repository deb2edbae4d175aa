// SPDX-License-Identifier: Apache-2.0
/**
 * Which PFs a node's new spec treats otherwise than the old one.
 * Usage: `touchedPfs(before.spec, after.spec).has("0000:3b:00.0")`.
 */
import type { SriovNetworkNodeStateSpec } from "@switchyard/api";

/** Their PCI addresses; a PF whose bridge differs is one of them. */
export function touchedPfs(before: SriovNetworkNodeStateSpec, after: SriovNetworkNodeStateSpec): ReadonlySet<string> {
  const [old, next] = [wishesByPf(before), wishesByPf(after)];
  const all = new Set([...next.keys(), ...old.keys()]);
  return new Set([...all].filter((pciAddress) => old.get(pciAddress) !== next.get(pciAddress)));
}

/** All that is wanted of each PF, as text. */
function wishesByPf({ interfaces = [], bridges = {} }: SriovNetworkNodeStateSpec): ReadonlyMap<string, string> {
  const wishes = new Map<string, string>();
  const add = (pciAddress: string, wish: unknown): void => {
    wishes.set(pciAddress, (wishes.get(pciAddress) ?? "") + JSON.stringify(wish));
  };
  for (const pf of interfaces) add(pf.pciAddress, pf);
  for (const bridge of [...(bridges.ovs ?? []), ...(bridges.linux ?? [])]) {
    for (const { pciAddress } of bridge.uplinks ?? []) add(pciAddress, bridge);
  }
  return wishes;
}
