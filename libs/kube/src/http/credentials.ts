// SPDX-License-Identifier: Apache-2.0
/**
 * keepFresh makes a source of credentials, which loads them again every minute, since files change, and after the server
 * has rejected them.
 */
import type { Agent } from "node:http";
import { bootClock } from "../clock.ts";

export interface Credentials {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The same instance as long as its content does not change, so that connections can be reused. */
  readonly tls: TlsIdentity;
  /** The API server, if its address can change while the process runs; otherwise that of the endpoint. */
  readonly server?: URL | undefined;
}

/** Certificates and keys are in PEM format. */
export interface TlsIdentity {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Agent that connects through a proxy. Without it, connections are direct. */
  readonly proxyAgent?: Agent | undefined;
}

export interface CredentialSource {
  /** Returns the credentials. Rejects with KubeError "BadConfig" if they cannot be loaded. */
  current(): Promise<Credentials>;
  /** Reports that the server has rejected the credentials (401). The next current() loads them again. */
  refused(): void;
}

export interface KeepFreshOptions {
  /** Time after which credentials are loaded again; a minute by default. */
  readonly maxAgeMs?: number | undefined;
  /** A clock that nobody sets; the time since boot by default. */
  readonly nowMs?: (() => number) | undefined;
}

/** `refused` tells `load` that the server has rejected its last result. `load` must reject with KubeError "BadConfig". */
export function keepFresh(
  load: (refused: boolean) => Promise<Credentials>,
  { maxAgeMs = reloadMs, nowMs = () => bootClock.nowMs() }: KeepFreshOptions = {},
): CredentialSource {
  let latest: { readonly credentials: Credentials; readonly staleAt: number } | undefined;
  let refused = false;
  let loading: Promise<Credentials> | undefined;

  return {
    async current() {
      if (latest && !refused && nowMs() < latest.staleAt) return latest.credentials;
      loading ??= reload().finally(() => {
        loading = undefined;
      });
      return loading;
    },
    refused() {
      refused = true;
    },
  };

  async function reload(): Promise<Credentials> {
    const { headers, tls, server } = await load(refused);
    refused = false;
    const credentials = {
      headers,
      ...(server && { server }),
      tls: latest && isSame(latest.credentials.tls, tls) ? latest.credentials.tls : tls,
    };
    latest = { credentials, staleAt: nowMs() + maxAgeMs };
    return credentials;
  }
}

/** Returns a source of empty credentials, for anonymous requests. */
export function createAnonymous(): CredentialSource {
  return keepFresh(() => Promise.resolve({ headers: {}, tls: {} }));
}

/** Default of maxAgeMs, as in client-go. The kubelet renews tokens at 80 % of their lifetime. */
export const reloadMs = 60_000;

/** Agents are not compared, since they are made from the other fields. */
function isSame(one: TlsIdentity, other: TlsIdentity): boolean {
  return one.ca === other.ca && one.cert === other.cert && one.key === other.key;
}

/** Endpoint is an API server with credentials, from a kubeconfig or the service account of a pod. */
export interface Endpoint {
  readonly server: URL;
  readonly namespace: string;
  /** Without them, requests are anonymous and the system's certificate authorities are trusted. */
  readonly credentials?: CredentialSource | undefined;
  /** Name in the server's certificate, if it differs from the host of the URL. */
  readonly serverName?: string | undefined;
  /** Accept any server certificate. */
  readonly insecure?: boolean | undefined;
  /** "host:port" of the proxy, for error messages. The credentials have its agent. */
  readonly proxy?: string | undefined;
}
