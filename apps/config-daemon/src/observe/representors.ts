// SPDX-License-Identifier: Apache-2.0
/**
 * Finds the representors of the VFs of a PF. Their names say nothing: they are identified by phys_switch_id, which all ports of
 * one embedded switch share, and by phys_port_name (Linux, Documentation/networking/representors.rst).
 * Usage: `const representors = representorsOf(links, uplink, pf.pciAddress); representors.get(3)?.name`.
 */
import type { Link } from "@switchyard/host";

/**
 * Returns the representors by the index of their VF. The ports of a card can share a switch, and a representor can belong to
 * another function of the card than its VF, so the number after "pf" decides: it is the function number of the PF. Ports
 * of an external controller ("c1pf0vf3", on a SmartNIC) do not match.
 */
export function representorsOf(
  links: Iterable<Link>,
  uplink: Link | undefined,
  pciAddress: string,
): ReadonlyMap<number, Link> {
  const found = new Map<number, Link>();
  if (uplink?.physSwitchId === undefined) return found;
  const pfNumber = pciAddress.slice(-1);
  for (const link of links) {
    if (link.physSwitchId !== uplink.physSwitchId) continue;
    const [, pf, vf] = /^pf(\d+)vf(\d+)$/.exec(link.physPortName ?? "") ?? [];
    if (pf === pfNumber && vf !== undefined) found.set(Number(vf), link);
  }
  return found;
}

/** Reports whether the link is the port of a VF or a subfunction, and not of a PF itself. */
export function isRepresentor({ physPortName = "" }: Link): boolean {
  return /^(?:c\d+)?pf\d+(?:vf|sf)\d+$/.test(physPortName);
}
