// SPDX-License-Identifier: Apache-2.0
/**
 * The credentials of requests, kept fresh: they are loaded again every minute, since files change, and when the server
 * has refused them.
 * Usage: `const source = keepFresh(() => readServiceAccount(directory)); const { headers, tls } = await source.current()`.
 */
import type { Agent } from "node:http";

export interface Credentials {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The same instance as long as nothing in it has changed, so that connections can be used again. */
  readonly tls: TlsIdentity;
}

/** Texts are PEM. */
export interface TlsIdentity {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Opens connections with this identity through a proxy. Connections are direct unless given. */
  readonly proxyAgent?: Agent | undefined;
}

export interface CredentialSource {
  /** Rejects with KubeError "BadConfig" when there are none. */
  current(): Promise<Credentials>;
  /** The server has refused them (401): the next call of current() loads them again. */
  refused(): void;
}

export interface FreshnessOptions {
  /** How long credentials are used before they are loaded again; a minute unless given. */
  readonly maxAgeMs?: number | undefined;
  /** The wall clock. */
  readonly now?: (() => Date) | undefined;
}

/** `load` is told whether the server has refused what it gave before. It rejects with KubeError "BadConfig". */
export function keepFresh(
  load: (refused: boolean) => Promise<Credentials>,
  { maxAgeMs = reloadMs, now = () => new Date() }: FreshnessOptions = {},
): CredentialSource {
  let latest: { readonly credentials: Credentials; readonly staleAt: number } | undefined;
  let refused = false;
  let loading: Promise<Credentials> | undefined;

  return {
    async current() {
      if (latest && !refused && now().getTime() < latest.staleAt) return latest.credentials;
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
    const { headers, tls } = await load(refused);
    refused = false;
    const credentials = { headers, tls: latest && isSame(latest.credentials.tls, tls) ? latest.credentials.tls : tls };
    latest = { credentials, staleAt: now().getTime() + maxAgeMs };
    return credentials;
  }
}

/** The source of requests without credentials. */
export function createAnonymous(): CredentialSource {
  return keepFresh(() => Promise.resolve({ headers: {}, tls: {} }));
}

/** How long credentials are used unless told otherwise, as in client-go. The kubelet renews tokens at 80 % of their life. */
export const reloadMs = 60_000;

/** An agent is made of the texts. */
function isSame(one: TlsIdentity, other: TlsIdentity): boolean {
  return one.ca === other.ca && one.cert === other.cert && one.key === other.key;
}
