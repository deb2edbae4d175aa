// SPDX-License-Identifier: Apache-2.0
/**
 * Connectivity is the port for questions whether the host reaches others. It needs no programs of the host, and no answer to ICMP.
 */

/** The next hop of a default route. */
export interface DefaultGateway {
  /** "192.0.2.254" or "fe80::1". */
  readonly address: string;
  /** Index of the interface. */
  readonly link: number;
}

/** Rejects with HostError only. */
export interface Connectivity {
  /** Returns the gateways of all default routes, of both families and in all tables. */
  listGateways(): Promise<readonly DefaultGateway[]>;
  /**
   * Reports whether an address answers a TCP connection to a port, also by refusing it: then the network works. False after
   * `timeoutMs`. EINVAL if it is not an IP address.
   */
  readAnswer(address: string, port: number, timeoutMs: number): Promise<boolean>;
  /**
   * Asks a neighbour on the link of an interface (ARP, neighbour discovery), and reports whether it answers within `timeoutMs`.
   * Undefined if nobody is asked: the interface has no ARP, or an administrator has fixed the entry. EINVAL if it is not an IP address.
   */
  readNeighbourAnswer(gateway: DefaultGateway, timeoutMs: number): Promise<boolean | undefined>;
}
