// SPDX-License-Identifier: Apache-2.0
/**
 * authenticateByKubeconfig makes a source of credentials from KubeConfig, which reads certificates and tokens, runs exec
 * plugins, and provides the agent for a proxy. Credentials of an exec plugin are requested from KubeConfig for each
 * request, since only KubeConfig knows their expiry. Others are requested every minute.
 */
import { KubeConfig, type Cluster } from "@kubernetes/client-node";
import type { RequestOptions } from "node:https";
import { systemClock, type Clock } from "../clock.ts";
import { idleMs } from "../http/connections.ts";
import { keepFresh, type CredentialSource, type Credentials, type TlsIdentity } from "../http/credentials.ts";
import { isRecord } from "../kube-object.ts";
import type { CompleteUser } from "./complete-user.ts";
import { badConfig, messageOf } from "./kubeconfig-fields.ts";
import { createOidcAuthenticator } from "./oidc.ts";

export function authenticateByKubeconfig(
  cluster: Cluster,
  { user, headers, path }: CompleteUser,
  clock: Clock = systemClock,
): CredentialSource {
  const exec: unknown = user.exec;
  const isExec = exec !== undefined;
  // A KubeConfig keeps the credentials of an exec plugin until they expire, even if the server has rejected them. It keeps
  // the agent for a proxy, with the first certificate, forever.
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
    if (isExec && !given) throw failed("its output has neither a token nor a certificate");
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
      // KubeConfig does not check the shape of the output before it reads the status.
      const isMisshapen = isExec && isRecord(error) && error["name"] === "TypeError";
      throw failed(isMisshapen ? "its output is not an ExecCredential with a status" : messageOf(error));
    }
    return options;
  }

  /** Limits the wait for an exec plugin. Its process continues; there is never more than one. */
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
    // KubeConfig's agents would close the connection after each request.
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

/** Returns the headers with lower-case names, so that they do not duplicate other headers. */
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

/** Unlike kubectl, KubeConfig prefers files to data, and it rejects http unless TLS verification is off. */
function completeCluster({ caFile, ...cluster }: Cluster): Cluster {
  const files = caFile && !cluster.caData ? { caFile } : {};
  return { ...cluster, ...files, skipTLSVerify: cluster.skipTLSVerify || cluster.server.startsWith("http:") };
}
