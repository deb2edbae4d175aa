// SPDX-License-Identifier: Apache-2.0
/**
 * createApiServerAddresses returns the IP addresses of the API server, so that the daemon never disconnects the node from it.
 */
import { readFile } from "node:fs/promises";
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

/** The environment variables from which a client in a pod takes the address of the API server. */
interface ServiceAddress {
  readonly KUBERNETES_SERVICE_HOST: string;
  readonly KUBERNETES_SERVICE_PORT: string;
}

/**
 * readKubeletApiServer reads the address of the API server from the kubeconfig of the kubelet. On OpenShift, the service address
 * works only when the cluster network is up, which can depend on NICs that the daemon configures (sriov-operator.md F). Returns
 * undefined if the kubeconfig at `path` cannot be read, or does not contain exactly one server.
 */
export async function readKubeletApiServer(path: string): Promise<ServiceAddress | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  const server = text === undefined ? undefined : findServer(text);
  if (server === undefined) return undefined;
  // URL puts IPv6 addresses in brackets; KUBERNETES_SERVICE_HOST has no brackets.
  const host = server.hostname.replace(/^\[(.*)\]$/, "$1");
  return { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: server.port || "443" };
}

// Searches for one field. A YAML parser would cost each daemon 2 MB of memory.
function findServer(kubeconfig: string): URL | undefined {
  const line = /(?:^|[{,])[ \t-]*["']?server["']?\s*:\s*["']?(https:\/\/[^\s"',}]+)/gm;
  const servers = new Set([...kubeconfig.matchAll(line)].map(([, server = ""]) => server));
  const [server = ""] = servers;
  return servers.size === 1 && URL.canParse(server) ? new URL(server) : undefined;
}
