// SPDX-License-Identifier: Apache-2.0
/**
 * createApiServerAddresses returns the IP addresses of the API server, so that the daemon never disconnects the node from it.
 */
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { systemClock, type Clock, type ServiceAddress } from "@switchyard/kube";

/** Looks up the addresses of a host name; rejects if there are none. */
type Lookup = (host: string) => Promise<readonly string[]>;

export interface AddressOptions {
  readonly lookUp?: Lookup | undefined;
  readonly clock?: Pick<Clock, "nowMs"> | undefined;
}

/**
 * `host` returns the present host name or IP address of the API server. The addresses of a name are looked up once a minute, because
 * they change when the control plane moves. If a lookup fails, the result has the last addresses of this name, and the next call tries again.
 */
export function createApiServerAddresses(
  host: () => string | undefined,
  { lookUp = lookUpHost, clock = systemClock }: AddressOptions = {},
): () => Promise<readonly string[]> {
  let known: { readonly name: string; readonly addresses: readonly string[]; readonly untilMs: number } | undefined;

  return async function apiServerAddresses() {
    const name = host();
    if (name === undefined) return [];
    if (isIP(name) !== 0) return [name];
    if (known?.name === name && clock.nowMs() < known.untilMs) return known.addresses;
    try {
      const addresses = [...(await lookUp(name))].sort();
      known = { name, addresses, untilMs: clock.nowMs() + knownForMs };
      return addresses;
    } catch {
      return known?.name === name ? known.addresses : [];
    }
  };
}

const knownForMs = 60_000;

async function lookUpHost(host: string): Promise<readonly string[]> {
  const { lookup } = await import("node:dns/promises"); // the host is an address on most nodes
  return (await lookup(host, { all: true })).map(({ address }) => address);
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
