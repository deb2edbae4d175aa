// SPDX-License-Identifier: Apache-2.0
/**
 * Finds out what the host itself uses a PF for. A PF that carries the default route would take the node off the network if
 * it became a port of a bridge.
 */
import type { InterfaceStatus } from "@switchyard/api";
import type { Host, Link } from "@switchyard/host";
import { networkText } from "@switchyard/plan";

/** What the host uses PFs for, by the PCI address of the PF. */
export type HostUseByPf = Readonly<Record<string, readonly string[]>>;

/** Routes that the node needs. */
export interface NeededRoute {
  /** "default route", "route to the API server 192.0.2.1". */
  readonly text: string;
  /** Indexes of the interfaces that the route names. */
  readonly links: readonly number[];
}

/** Rejects with HostError. */
export async function readRoutes(
  { routes }: Host,
  apiServerAddresses: readonly string[],
): Promise<readonly NeededRoute[]> {
  const toApiServer = apiServerAddresses.map(async (address) => ({
    text: apiServerRouteText(address),
    links: await routes.listRouteLinks(address),
  }));
  return [{ text: "default route", links: await routes.listDefaultRouteLinks() }, ...(await Promise.all(toApiServer))];
}

/** Returns the networks in which the host has an address: of a storage network, for example. Rejects with HostError. */
export async function readNetworks({ routes }: Host): Promise<readonly NeededRoute[]> {
  const networks = await routes.listConnectedNetworks();
  return networks.map(({ network, links }) => ({ text: networkText(network), links }));
}

/** The use of a PF that carries the packets to this address of the API server. */
export function apiServerRouteText(address: string): string {
  return `route to the API server ${address}`;
}

export interface HostUseContext {
  readonly links: readonly Link[];
  readonly routes: readonly NeededRoute[];
  /** Networks of the host's own addresses; none by default. */
  readonly networks?: readonly NeededRoute[];
  /** Names of the bridges that Switchyard created for PFs, of any kind. */
  readonly ownBridges: ReadonlySet<string>;
  /** Name that the bridge of this PF has, or would have. */
  readonly bridgeName: string;
}

/** Networks of one PF that are shown. */
const maxNetworks = 8;

/** Returns one text for each use, in a fixed order. */
export function hostUseOf({ name }: InterfaceStatus, context: HostUseContext): readonly string[] {
  const { links, routes, networks = [], ownBridges, bridgeName } = context;
  const pf = links.find((link) => link.name === name);
  if (pf === undefined) return [];
  const isCarried = (route: NeededRoute): boolean =>
    route.links.some((index) => carriersOf(index, links).has(pf.index));
  const master = links.find(({ index }) => index === pf.masterIndex);
  const isOwnPort = master !== undefined && isOwnMaster(master, context);
  // An address on the PF itself works again when the PF leaves the bridge; one on the bridge is lost.
  const isOfBridge = (network: NeededRoute): boolean =>
    !isOwnPort || network.links.some((index) => carriersOf(index, links).has(master.index));
  const ofNetworks = networks.filter((network) => isCarried(network) && isOfBridge(network));
  const carried = [...routes.filter(isCarried), ...ofNetworks.slice(0, maxNetworks)];
  const isNameTaken = links.some((link) => link.name === bridgeName) && !ownBridges.has(bridgeName);
  return [
    ...carried.map(({ text }) => text),
    ...(master === undefined || isOwnPort ? [] : [`port of ${master.kind ?? "interface"} ${master.name}`]),
    ...(isNameTaken ? [`another program uses the name ${bridgeName}`] : []),
  ];
}

/**
 * Returns one text for each interface of the host above a device, at any depth: VLANs, macvlans, ipvlans, and tunnels that are bound
 * to it. They lose their connection when the device leaves the network namespace.
 */
export function interfacesAbove({ name }: InterfaceStatus, links: readonly Link[]): readonly string[] {
  const device = links.find((link) => link.name === name);
  if (device === undefined) return [];
  const above = new Set<Link>();
  const visit = (lower: Link): void => {
    for (const link of links) {
      if (link.lowerIndex !== lower.index || link === device || above.has(link) || isPeer(link)) continue;
      above.add(link);
      visit(link);
    }
  };
  visit(device);
  return [...above].map((link) => `${link.kind ?? "interface"} ${link.name}`);
}

/** The kernel reports the other end of a pair in the same field as the interface below. */
function isPeer({ kind }: Link): boolean {
  return kind === "veth" || kind === "netkit" || kind === "netdevsim";
}

/** The master of all ports of Open vSwitch is its datapath, "ovs-system". */
function isOwnMaster({ name, kind }: Link, { ownBridges, bridgeName }: HostUseContext): boolean {
  return ownBridges.has(name) || (kind === "openvswitch" && ownBridges.has(bridgeName));
}

/** Returns the interfaces by which the packets of an interface leave: itself, what is below it, and its ports. */
function carriersOf(index: number, links: readonly Link[]): ReadonlySet<number> {
  const carriers = new Set<number>();
  const visit = (each: number): void => {
    if (carriers.has(each)) return;
    carriers.add(each);
    const link = links.find((other) => other.index === each);
    if (link?.lowerIndex !== undefined) visit(link.lowerIndex);
    for (const other of links) {
      // The kernel does not show to which bridge of Open vSwitch a port belongs.
      const isOvsPort = link?.kind === "openvswitch" && isPortOfOvs(other, links);
      if (other.masterIndex === each || isOvsPort) visit(other.index);
    }
  };
  visit(index);
  return carriers;
}

function isPortOfOvs({ masterIndex }: Link, links: readonly Link[]): boolean {
  return masterIndex !== undefined && links.find(({ index }) => index === masterIndex)?.kind === "openvswitch";
}
