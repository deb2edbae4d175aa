// SPDX-License-Identifier: Apache-2.0
/**
 * Credentials by KubeConfig: it reads certificates and tokens, runs exec plugins, and brings the agent for a proxy. Where
 * an exec plugin gives the credentials it is asked for each request, since only KubeConfig knows until when they are valid;
 * every minute otherwise.
 * Usage: `const source = authenticateByKubeconfig(cluster, completeUser(file, user, cluster))`.
 */
import { KubeConfig, type Cluster } from "@kubernetes/client-node";
import type { RequestOptions } from "node:https";
import { systemClock, type Clock } from "../clock.ts";
import { idleMs } from "../connect/connections.ts";
import { keepFresh, type CredentialSource, type Credentials, type TlsIdentity } from "../connect/credentials.ts";
import { isRecord } from "../kube-object.ts";
import type { CompleteUser } from "./complete-user.ts";
import { badConfig, messageOf } from "./kubeconfig-error.ts";
import { createOidcAuthenticator } from "./oidc.ts";

export function authenticateByKubeconfig(
  cluster: Cluster,
  { user, headers, path }: CompleteUser,
  clock: Clock = systemClock,
): CredentialSource {
  const exec: unknown = user.exec;
  const isExec = exec !== undefined;
  // A KubeConfig keeps what an exec plugin gave until that expires, even if the server has refused it; and the agent for
  // a proxy for good, with the first certificate.
  const keeps = isExec && !cluster.proxyUrl;
  const oidc = createOidcAuthenticator();
  let kubeConfig = create();
  let asking: Promise<RequestOptions> | undefined;

  return keepFresh(load, { maxAgeMs: keeps ? 0 : undefined });

  async function load(refused: boolean): Promise<Credentials> {
    if (asking === undefined && (refused || !keeps)) kubeConfig = create();
    asking ??= ask(kubeConfig).finally(() => {
      asking = undefined;
    });
    const options = await within(asking);
    const credentials = { headers: { ...headersOf(options), ...headers }, tls: identityOf(options) };
    const given = credentials.headers["authorization"] !== undefined || options.cert !== undefined;
    if (isExec && !given) throw failed("its answer has neither a token nor a certificate");
    return credentials;
  }

  function create(): KubeConfig {
    const config = new KubeConfig();
    config.addAuthenticator(oidc);
    config.loadFromClusterAndUser(completeCluster(cluster), user);
    return config;
  }

  async function ask(config: KubeConfig): Promise<RequestOptions> {
    const options: RequestOptions = {};
    try {
      await config.applyToHTTPSOptions(options);
    } catch (error) {
      // KubeConfig reads the status of an answer without a look at its shape.
      const isMisshapen = isExec && isRecord(error) && error["name"] === "TypeError";
      throw failed(isMisshapen ? "its answer is not an ExecCredential with a status" : messageOf(error));
    }
    return options;
  }

  /** An exec plugin that waits for an answer keeps its process; there is never more than one. */
  async function within(answer: Promise<RequestOptions>): Promise<RequestOptions> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const cancel = clock.after(longestMs, () => {
      reject(failed(`no credentials within ${longestMs / 1000} s`));
    });
    return Promise.race([answer, late]).finally(cancel);
  }

  function identityOf({ ca, cert, key, agent }: RequestOptions): TlsIdentity {
    const identity = { ca: pem(ca), cert: pem(cert), key: pem(key) };
    if (!cluster.proxyUrl || typeof agent !== "object") return identity;
    // KubeConfig's agents close a connection after each request, unlike those of Connections.
    Object.assign(agent, { keepAlive: true });
    if ("options" in agent && isRecord(agent.options)) Object.assign(agent.options, { timeout: idleMs });
    return { ...identity, proxyAgent: agent };
  }

  function failed(words: string) {
    const of = `user "${user.name}"`;
    return badConfig(
      [path],
      isRecord(exec) ? `exec plugin ${String(exec["command"])} of ${of}: ${words}` : `${of}: ${words}`,
    );
  }
}

const longestMs = 60_000;

/** Names in lower case: ours and KubeConfig's must not stand side by side. */
function headersOf({ headers, auth }: RequestOptions): Record<string, string> {
  const given = Object.entries(headers ?? {}).map(
    ([name, value]) => [name.toLowerCase(), String(value).trim()] as const,
  );
  const basic = auth && { authorization: `Basic ${Buffer.from(auth).toString("base64")}` };
  return { ...basic, ...Object.fromEntries(given) };
}

function pem(value: RequestOptions["ca"] | RequestOptions["key"]): string | undefined {
  return typeof value === "string" || Buffer.isBuffer(value) ? value.toString() : undefined;
}

/** KubeConfig prefers files to data, unlike kubectl, and refuses http unless TLS is not verified. */
function completeCluster({ caFile, ...cluster }: Cluster): Cluster {
  const files = caFile && !cluster.caData ? { caFile } : {};
  return { ...cluster, ...files, skipTLSVerify: cluster.skipTLSVerify || cluster.server.startsWith("http:") };
}
