// SPDX-License-Identifier: Apache-2.0
/**
 * compareResult compares the pod's interface with the result of ADD, for CHECK. EVE's Go plugin does not look into the
 * pod (eve-and-afxdp.md a9).
 */
import { formatCidr, formatIp, isUnspecified, networkOf } from "../addresses/ip-address.ts";
import type { PodLink, PodNetwork } from "../network/pod-network.ts";
import type { CniInterface, CniResult } from "../request/result.ts";

/** The interface to compare. */
export interface Checked {
  readonly ifName: string;
  readonly netns: string;
  readonly isVirtualMachine: boolean;
}

/** The differences, one sentence each; empty if the interface is as ADD left it. */
export function compareResult(expected: CniResult, seen: PodNetwork, checked: Checked): string[] {
  const { ifName, netns } = checked;
  const index = expected.interfaces.findIndex(({ name, sandbox }) => name === ifName && sandbox === netns);
  const wanted = expected.interfaces[index];
  if (wanted === undefined) return [`prevResult has no interface ${ifName} in ${netns}`];
  const link = seen.links.find(({ name }) => name === ifName);
  if (link === undefined) return [`the pod has no interface ${ifName}`];
  return [
    ...compareLink(wanted, link, checked),
    ...compareAddresses(expected, index, link),
    ...compareRoutes(expected, seen, ifName),
  ];
}

/**
 * The differences on the host. A result names the bridge first, then the host's end of the veth pair. Without them, the pod has an
 * interface and no network.
 */
export function compareHostSide({ interfaces }: CniResult, links: readonly PodLink[]): string[] {
  const [bridge, ...ends] = interfaces.filter(({ sandbox }) => sandbox === undefined);
  if (bridge === undefined) return [];
  const byName = new Map(links.map((link) => [link.name, link]));
  const missing = [bridge, ...ends].filter(({ name }) => !byName.has(name));
  const detached = ends.filter(({ name }) => (byName.get(name)?.master ?? bridge.name) !== bridge.name);
  return [
    ...missing.map(({ name }) => `the host has no interface ${name}`),
    ...detached.map(({ name }) => {
      const master = byName.get(name)?.master ?? "";
      return `${name} of the host is attached to ${master === "" ? "no bridge" : master}, expected ${bridge.name}`;
    }),
  ];
}

function compareLink(wanted: CniInterface, link: PodLink, { isVirtualMachine }: Checked): string[] {
  const faults: string[] = [];
  // KubeVirt attaches the interface to a bridge of its own and gives the MAC address to the guest.
  const gaveAway = isVirtualMachine && link.master !== "";
  if (wanted.mac !== undefined && wanted.mac.toLowerCase() !== link.mac && !gaveAway) {
    faults.push(`${link.name} has MAC ${link.mac}, expected ${wanted.mac}`);
  }
  if (wanted.mtu !== undefined && wanted.mtu !== link.mtu) {
    faults.push(`${link.name} has MTU ${link.mtu}, expected ${wanted.mtu}`);
  }
  return faults;
}

function compareAddresses({ ips }: CniResult, index: number, link: PodLink): string[] {
  return ips
    .filter((ip) => (ip.interface ?? index) === index)
    .map(({ address }) => formatCidr(address))
    .filter((address) => !link.addresses.includes(address))
    .map((address) => `${link.name} does not have address ${address}`);
}

/**
 * A result's route without gateway matches a route with any gateway: some plugins use the gateway of the address for
 * it.
 */
function compareRoutes({ routes }: CniResult, seen: PodNetwork, ifName: string): string[] {
  return routes
    .map(({ dst, gw }) => ({
      dst: formatCidr(networkOf(dst)),
      gateway: gw === undefined || isUnspecified(gw) ? undefined : formatIp(gw),
    }))
    .filter(
      ({ dst, gateway }) =>
        !seen.routes.some(
          (route) => route.dst === dst && route.dev === ifName && (gateway ?? route.gateway) === route.gateway,
        ),
    )
    .map(({ dst, gateway }) => `no route to ${dst}${gateway === undefined ? "" : ` via ${gateway}`} through ${ifName}`);
}
