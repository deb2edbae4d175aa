// SPDX-License-Identifier: Apache-2.0
/**
 * Finds the representors of the VFs of a PF. Their names say nothing: they are identified by phys_switch_id, which all ports of
 * one embedded switch share, and by phys_port_name (Linux, Documentation/networking/representors.rst). The driver numbers
 * the PFs of a card, which often share a switch.
 * Usage: `const representors = representorsOf(links, uplink, { pciAddress, driver }); representors.get(3)?.name`.
 */
import type { Link } from "@switchyard/host";

/** The PF whose representors are looked for. */
export interface RepresentedPf {
  readonly pciAddress: string;
  readonly driver?: string | undefined;
}

/** Drivers that number PFs by the PCI function, whatever the number of the port (bnxt_vf_rep_get_phys_port_name, 6.12). */
const numberingByFunction: ReadonlySet<string | undefined> = new Set(["bnxt_en"]);

/**
 * Returns the number of the PF in the port names of its representors ("pf1vf0"); undefined if it is not known. mlx5_core and ice use
 * the number of the port, which is in the name of the PF itself ("p1"): that of the PCI function is another one in a virtual machine
 * and on cards whose ports are devices of their own.
 */
export function pfNumberOf(uplink: Link | undefined, { pciAddress, driver }: RepresentedPf): number | undefined {
  if (numberingByFunction.has(driver)) return functionNumberOf(pciAddress);
  const [, port] = /^p(\d+)$/.exec(uplink?.physPortName ?? "") ?? [];
  return port === undefined ? undefined : Number(port);
}

/** Returns the number of the PCI function, which old drivers use that do not name the port of the PF. */
export function functionNumberOf(pciAddress: string): number {
  return Number.parseInt(pciAddress.slice(-1), 16);
}

/**
 * Returns the representors by the index of their VF. A representor can be below another function of the card than its VF, so its
 * port name decides: "pf1vf0", or "p1pf0vf0" with the number of the port first (sfc). Ports of an external controller
 * ("c1pf0vf3", on a SmartNIC) do not match.
 */
export function representorsOf(
  links: readonly Link[],
  uplink: Link | undefined,
  pf: RepresentedPf,
): ReadonlyMap<number, Link> {
  const found = new Map<number, Link>();
  if (uplink?.physSwitchId === undefined) return found;
  const pfNumber = pfNumberOf(uplink, pf) ?? functionNumberOf(pf.pciAddress);
  const ofSwitch = links.filter(({ physSwitchId }) => physSwitchId === uplink.physSwitchId);
  const rivals = rivalsOf(uplink, ofSwitch);
  for (const link of ofSwitch) {
    const [, port, number, vf] = /^(?:c0)?(?:p(\d+))?pf(\d+)vf(\d+)$/.exec(link.physPortName ?? "") ?? [];
    if (vf === undefined) continue;
    const isOfPf = port === undefined ? Number(number) === pfNumber : `p${port}` === uplink.physPortName;
    if (isOfPf && !rivals.has(link.parent?.name)) found.set(Number(vf), link);
  }
  return found;
}

/** Returns the functions that share the port of the PF, and so its number. Their representors are below themselves. */
function rivalsOf(uplink: Link, ofSwitch: readonly Link[]): ReadonlySet<string | undefined> {
  const rivals = ofSwitch.filter(
    ({ physPortName, parent }) =>
      physPortName !== undefined && physPortName === uplink.physPortName && parent?.name !== uplink.parent?.name,
  );
  return new Set(rivals.map(({ parent }) => parent?.name));
}

/** Reports whether the link is the port of a VF or a subfunction, and not of a PF itself. */
export function isRepresentor({ physPortName = "" }: Link): boolean {
  return /^(?:[cp]\d+)?pf\d+(?:vf|sf)\d+$/.test(physPortName);
}
