// SPDX-License-Identifier: Apache-2.0
/**
 * readKubeconfig reads kubeconfigs with KubeConfig of @kubernetes/client-node. If several files have an entry, the first
 * file wins, as with kubectl. Only this folder imports the package, and connect() loads this file only if there is a
 * kubeconfig (docs/decisions/001-kubernetes-transport.md).
 */
import type { Cluster, KubeConfig } from "@kubernetes/client-node";
import type { Endpoint } from "../http/credentials.ts";
import { authenticateByKubeconfig } from "./authenticate.ts";
import { completeUser } from "./complete-user.ts";
import { proxyFor, type ProxyVariables } from "./environment-proxy.ts";
import { badConfig } from "./kubeconfig-fields.ts";
import { readKubeconfigFile, type KubeconfigFile } from "./kubeconfig-file.ts";

/**
 * The default `context` is the current-context of the files. `env` are the environment variables whose proxy is used for clusters
 * without proxy-url. Rejects with KubeError "BadConfig".
 */
export async function readKubeconfig(
  paths: readonly string[],
  context?: string,
  env: ProxyVariables = {},
): Promise<Endpoint> {
  const files = await Promise.all(paths.map(readKubeconfigFile));
  const current = context ?? files.map((file) => file.fields["current-context"]).find((name) => Boolean(name));
  if (typeof current !== "string") throw badConfig(paths, "current-context is not set");

  const chosen = find(files, { what: `context "${current}" with a cluster`, others: contextsOf(files) }, (config) =>
    config.getContextObject(current),
  );
  const { cluster: clusterName, user: userName, namespace } = chosen.entry;
  const ofCluster = find(files, { what: `cluster "${clusterName}" with a server` }, (config) =>
    config.getCluster(clusterName),
  );
  const server = parseServer(ofCluster.file, ofCluster.entry);
  const cluster = withProxy(ofCluster.entry, proxyFor(server, env));
  const ofUser = userName
    ? find(files, { what: `user "${userName}"` }, (config) => config.getUser(userName))
    : undefined;
  const user = completeUser(ofUser?.file ?? chosen.file, ofUser?.entry ?? { name: "" }, cluster);

  return {
    server,
    namespace: typeof namespace === "string" && namespace !== "" ? namespace : "default",
    serverName: cluster.tlsServerName,
    insecure: cluster.skipTLSVerify,
    proxy: proxyHost(ofCluster.file, cluster),
    credentials: authenticateByKubeconfig(cluster, user),
  };
}

/** Returns the entry of the first file that has it. KubeConfig leaves out entries without a required field. */
function find<Entry>(
  files: readonly KubeconfigFile[],
  { what, others = "" }: { readonly what: string; readonly others?: string },
  get: (config: KubeConfig) => Entry | null,
) {
  for (const file of files) {
    const entry = get(file.config);
    if (entry !== null) return { file, entry };
  }
  const paths = files.map(({ path }) => path);
  throw badConfig(paths, `${what} not found${others}`);
}

/** "; the contexts are lab, prod", for a name that is mistyped. */
function contextsOf(files: readonly KubeconfigFile[]): string {
  const names = [...new Set(files.flatMap(({ config }) => config.getContexts().map(({ name }) => name)))];
  return names.length === 0 ? "" : `; the contexts are ${names.slice(0, 20).join(", ")}`;
}

function parseServer({ path }: KubeconfigFile, { name, server }: Cluster): URL {
  const url = URL.parse(server);
  if (url === null || !["http:", "https:"].includes(url.protocol))
    throw badConfig([path], `the server of cluster "${name}" is not an http or https URL`);
  return url;
}

/** A proxy-url of the kubeconfig has precedence over the environment, as with kubectl. */
function withProxy(cluster: Cluster, proxyUrl: string | undefined): Cluster {
  return proxyUrl === undefined || cluster.proxyUrl ? cluster : { ...cluster, proxyUrl };
}

/** Returns the host of proxy-url without user and password. */
function proxyHost({ path }: KubeconfigFile, { name, proxyUrl }: Cluster): string | undefined {
  if (!proxyUrl) return undefined;
  const url = URL.parse(proxyUrl);
  if (url === null || !["http:", "https:", "socks5:", "socks5h:"].includes(url.protocol))
    throw badConfig([path], `the proxy-url of cluster "${name}" is not an http, https or socks5 URL`);
  return url.host;
}
