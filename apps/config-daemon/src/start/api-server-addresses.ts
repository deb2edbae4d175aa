// SPDX-License-Identifier: Apache-2.0
/**
 * createApiServerAddresses returns the IP addresses of the API server, so that the daemon never disconnects the node from it.
 * Usage: `const apiServerAddresses = createApiServerAddresses(transport.serverHost); await apiServerAddresses()`.
 */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";

/** Looks up the addresses of a host name; rejects if there are none. */
type Lookup = (host: string) => Promise<readonly string[]>;

/**
 * `host` is a host name or an IP address. A name is looked up once; if that fails, the result is empty and the next call tries
 * again.
 */
export function createApiServerAddresses(
  host: string | undefined,
  lookUp: Lookup = async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
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
