// SPDX-License-Identifier: Apache-2.0
/**
 * readHostNetwork finds out whether the host of a SmartNIC keeps its network when Open vSwitch is disabled on it. On OpenShift,
 * configure-ovs puts the physical interface into br-ex, and the unit switchyard-remove-br-ex gives it back. A br-ex that NMState or an
 * administrator made has profiles of NetworkManager that the unit does not know, and stays without Open vSwitch: the host then
 * boots without address and default route.
 */
import type { HostNetworkStatus } from "@switchyard/api";
import type { HostFiles, Link } from "@switchyard/host";
import type { NeededRoute } from "./host-use.ts";

/** Where NetworkManager keeps profiles; configure-ovs uses the second one, and the first one for those that it must keep. */
const profileDirectories = ["/etc/NetworkManager/system-connections", "/run/NetworkManager/system-connections"];

/** The only bridge that the unit gives back; configure-ovs makes br-ex1, too. */
const givenBack = "br-ex";

/** NetworkManager adds the UUID if another file has the name. */
const profileOfConfigureOvs = /^ovs-if-(br-ex|phys0)(-[0-9a-f-]{36})?\.nmconnection$/;

/** Calls `readNeeded` only if there are interfaces of Open vSwitch. Rejects with HostError. */
export async function readHostNetwork(
  files: Pick<HostFiles, "listNames">,
  links: readonly Link[],
  readNeeded: () => Promise<readonly NeededRoute[]>,
): Promise<HostNetworkStatus> {
  if (!links.some(isOfOvs)) return {};
  const routes = await readNeeded();
  const carrying = new Set(routes.flatMap((route) => route.links));
  const ofOvs = links.filter((link) => carrying.has(link.index) && isOnOvs(link, links));
  if (ofOvs.length === 0) return {};
  const isGivenBack = ofOvs.every(({ name }) => name === givenBack) && (await hasProfile(files));
  return { openVSwitchInterfaces: ofOvs.map(({ name }) => name).sort(), madeByConfigureOvs: isGivenBack };
}

async function hasProfile(files: Pick<HostFiles, "listNames">): Promise<boolean> {
  const names = await Promise.all(profileDirectories.map((directory) => files.listNames(directory)));
  return names.flat().some((name) => profileOfConfigureOvs.test(name));
}

/** Reports whether the interface, one below it, or a port of either belongs to Open vSwitch. */
function isOnOvs(link: Link, links: readonly Link[], seen: ReadonlySet<Link> = new Set()): boolean {
  if (isOfOvs(link)) return true;
  if (seen.has(link)) return false;
  const visited = new Set([...seen, link]);
  return links.some((other) => {
    const isBelow = other.index === link.lowerIndex || other.masterIndex === link.index;
    return isBelow && isOnOvs(other, links, visited);
  });
}

function isOfOvs({ kind }: Link): boolean {
  return kind === "openvswitch";
}
