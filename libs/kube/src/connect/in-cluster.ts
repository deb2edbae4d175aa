// SPDX-License-Identifier: Apache-2.0
/** readInCluster finds the API server from within a pod, by the service account that the kubelet mounts. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { keepFresh, type Credentials, type Endpoint } from "../http/credentials.ts";
import { KubeError } from "../http/kube-error.ts";

/** The environment variables from which a client in a pod takes the address of the API server. */
export interface ServiceAddress {
  readonly KUBERNETES_SERVICE_HOST: string;
  readonly KUBERNETES_SERVICE_PORT: string;
}

export interface InClusterOptions {
  /** Directory of the service account. */
  readonly directory?: string | undefined;
  /**
   * Finds the address of the API server, again each time that the token is read. Undefined if it is not known: then the last one is
   * used, or that of the environment.
   */
  readonly findAddress?: (() => Promise<ServiceAddress | undefined>) | undefined;
}

/** Rejects with KubeError "BadConfig" outside of a pod. */
export async function readInCluster(
  env: Readonly<Record<string, string | undefined>>,
  { directory = "/var/run/secrets/kubernetes.io/serviceaccount", findAddress }: InClusterOptions = {},
): Promise<Endpoint> {
  const found = await findAddress?.();
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = { ...env, ...found };
  if (!host || !port) {
    const words =
      "outside of a pod a kubeconfig is needed: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set";
    throw new KubeError("find the API server", "BadConfig", { words });
  }
  let server = urlOf(host, port);
  async function readAgain(): Promise<Credentials> {
    const [credentials, address] = await Promise.all([readServiceAccount(directory), findAddress?.()]);
    const next = address && urlOf(address.KUBERNETES_SERVICE_HOST, address.KUBERNETES_SERVICE_PORT);
    if (next !== undefined && next.href !== server.href) server = next;
    return { ...credentials, server };
  }
  return {
    server,
    namespace: (await read(directory, "namespace")) || "default",
    credentials: keepFresh(findAddress === undefined ? () => readServiceAccount(directory) : readAgain),
  };
}

function urlOf(host: string, port: string): URL {
  // Node's isIPv6() would compile a large regular expression, which takes 4 % of the daemon's start.
  const isIPv6 = host.includes(":") && !host.startsWith("[");
  return new URL(`https://${isIPv6 ? `[${host}]` : host}:${port}`);
}

/** Reads the token and the CA certificate of a service account. Rejects with KubeError "BadConfig". */
export async function readServiceAccount(directory: string): Promise<Credentials> {
  const [token, ca] = await Promise.all([read(directory, "token"), read(directory, "ca.crt")]);
  return { headers: { authorization: `Bearer ${token}` }, tls: { ca } };
}

async function read(directory: string, name: string): Promise<string> {
  const file = join(directory, name);
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (cause) {
    throw new KubeError(`read ${file}`, "BadConfig", { words: "the service account token is not mounted", cause });
  }
}
