// SPDX-License-Identifier: Apache-2.0
/**
 * createApiServerAddresses returns the IP addresses of the API server, so that the daemon never disconnects the node from it.
 * Usage: `const apiServerAddresses = createApiServerAddresses(transport.serverHost); await apiServerAddresses()`.
 */
import { isIP } from "node:net";

/** Looks up the addresses of a host name; rejects if there are none. */
type Lookup = (host: string) => Promise<readonly string[]>;

/**
 * `host` is a host name or an IP address. A name is looked up once; if that fails, the result is empty and the next call tries
 * again.
 */
export function createApiServerAddresses(
  host: string | undefined,
  lookUp: Lookup = lookUpHost,
): () => Promise<readonly string[]> {
  let known: readonly string[] | undefined;

  return async function apiServerAddresses() {
    if (host === undefined) return [];
    if (isIP(host) !== 0) return [host];
    known ??= await lookUp(host).then(
      (addresses) => [...addresses].sort(),
      () => undefined,
    );
    return known ?? [];
  };
}

async function lookUpHost(host: string): Promise<readonly string[]> {
  const { lookup } = await import("node:dns/promises"); // the host is an address on most nodes
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
