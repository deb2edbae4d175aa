// SPDX-License-Identifier: Apache-2.0
/**
 * Routes is the port for the routing tables in the network namespace of the daemon (rtnetlink). Rejects with HostError only.
 */
export interface Routes {
  /** Returns the indexes of the interfaces of all default routes, of IPv4 and IPv6 and in all tables, in ascending order. */
  listDefaultRouteLinks(): Promise<readonly number[]>;
  /** Returns the indexes of the interfaces by which packets to an IP address leave; empty if there is no route. EINVAL. */
  listRouteLinks(address: string): Promise<readonly number[]>;
}
