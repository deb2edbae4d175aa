// SPDX-License-Identifier: Apache-2.0
/**
 * The API server's address as the kubelet knows it. On OpenShift the cluster's service address works only once the cluster's
 * network does, and that may wait for the NICs that the daemon configures (sriov-operator.md F).
 * Usage: `await connect({ env: { ...process.env, ...(await readKubeletApiServer("/host/etc/kubernetes/kubeconfig")) } })`.
 */
import { readFile } from "node:fs/promises";

/** What a pod's client takes the API server's address from. */
export interface ServiceAddress {
  readonly KUBERNETES_SERVICE_HOST: string;
  readonly KUBERNETES_SERVICE_PORT: string;
}

/** Undefined where the kubeconfig at `path` cannot be read, or names no server or several. */
export async function readKubeletApiServer(path: string): Promise<ServiceAddress | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  const server = text === undefined ? undefined : findServer(text);
  if (server === undefined) return undefined;
  // URL has IPv6 addresses in brackets; a client's environment has not.
  const host = server.hostname.replace(/^\[(.*)\]$/, "$1");
  return { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: server.port || "443" };
}

// The one field of all the YAML that matters: a parser for it would cost each daemon 2 MB.
function findServer(kubeconfig: string): URL | undefined {
  const line = /(?:^|[{,])[ \t-]*["']?server["']?\s*:\s*["']?(https:\/\/[^\s"',}]+)/gm;
  const servers = new Set([...kubeconfig.matchAll(line)].map(([, server = ""]) => server));
  const [server = ""] = servers;
  return servers.size === 1 && URL.canParse(server) ? new URL(server) : undefined;
}
