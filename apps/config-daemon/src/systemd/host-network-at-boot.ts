// SPDX-License-Identifier: Apache-2.0
/**
 * hostNetworkAtBoot returns what the phases of a boot must know about the host's own network, because they run when it is not
 * complete. It is a pure function.
 */
import type { InterfaceStatus } from "@switchyard/api";
import { apiServerRouteText, type HostUseByPf } from "../observe/host-use.ts";
import type { Observation } from "../observe/observe.ts";

/** The host's own network, as far as software bridges can take it away. */
export interface HostNetworkAtBoot {
  readonly hostUse: HostUseByPf;
  readonly apiServerAddresses: readonly string[];
}

/**
 * A use that was recorded ends only by evidence. While the host has no default route at all, for example because its
 * DHCP server does not answer, the PF that had it may still be the one that the host needs.
 */
export function hostNetworkAtBoot(
  found: Pick<Observation, "interfaces" | "routes"> | undefined,
  apiServerAddresses: readonly string[],
  before: HostNetworkAtBoot,
): HostNetworkAtBoot {
  const addresses = apiServerAddresses.length > 0 ? apiServerAddresses : before.apiServerAddresses;
  const { interfaces, routes } = found ?? {};
  if (interfaces === undefined || routes === undefined)
    return { hostUse: before.hostUse, apiServerAddresses: addresses };
  const unmet = new Set(routes.flatMap(({ text, links }) => (links.length === 0 ? [text] : [])));
  if (apiServerAddresses.length === 0) for (const address of addresses) unmet.add(apiServerRouteText(address));

  const pfs = new Map(interfaces.map((pf) => [pf.pciAddress, pf]));
  const addressesOfPfs = [...new Set([...pfs.keys(), ...Object.keys(before.hostUse)])].sort();
  const uses = addressesOfPfs.flatMap((pciAddress): readonly [string, readonly string[]][] => {
    const use = useOf(pfs.get(pciAddress), before.hostUse[pciAddress] ?? [], unmet);
    return use.length === 0 ? [] : [[pciAddress, use]];
  });
  return { hostUse: Object.fromEntries(uses), apiServerAddresses: addresses };
}

function useOf(
  pf: InterfaceStatus | undefined,
  recorded: readonly string[],
  unmet: ReadonlySet<string>,
): readonly string[] {
  if (pf?.name === undefined) return recorded; // the PF is not there now, or has no driver
  // The host reaches its network through Switchyard's bridge, so the next boot must create it again.
  if (pf.bridge !== undefined) return [];
  return [...new Set([...(pf.hostUse ?? []), ...recorded.filter((text) => unmet.has(text))])];
}
