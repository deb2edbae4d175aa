// SPDX-License-Identifier: Apache-2.0
/**
 * What authenticates a request, kept fresh: files are read again every minute, an exec plugin is run again when what it
 * gave has expired or was refused.
 * Usage: `const { headers, tls } = await credentials.current()`.
 */
import { readFile } from "node:fs/promises";
import type { Endpoint, Secret } from "./endpoint.ts";
import { equalJson } from "./equal-json.ts";
import { runExecPlugin, type ExecCredentials } from "./exec-plugin.ts";
import { KubeError } from "./kube-error.ts";

export interface Credentials {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The same instance as long as nothing in it has changed, so that connections can be used again. */
  readonly tls: TlsIdentity;
}

/** Texts are PEM. */
export interface TlsIdentity {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

export interface CredentialSource {
  /** Rejects with KubeError "BadConfig" when there are none. */
  current(): Promise<Credentials>;
  /** The server has refused them (401): look for others next time. */
  refused(): void;
}

/** `now` is the clock on the wall. */
export function createCredentials(endpoint: Endpoint, now: () => Date = () => new Date()): CredentialSource {
  let latest: { readonly credentials: Credentials; readonly staleAt: number } | undefined;
  let executed: ExecCredentials | undefined;
  let loading: Promise<Credentials> | undefined;

  return {
    async current() {
      if (latest && now().getTime() < latest.staleAt) return latest.credentials;
      loading ??= load().finally(() => {
        loading = undefined;
      });
      return loading;
    },
    refused() {
      executed = undefined;
      latest &&= { ...latest, staleAt: 0 };
    },
  };

  async function load(): Promise<Credentials> {
    const { exec, authority, clientCertificate, clientKey } = endpoint;
    if (exec && (executed === undefined || (executed.expiresAt && executed.expiresAt <= now())))
      executed = await runExecPlugin(exec);
    const tls = {
      ca: await read(authority),
      cert: executed?.clientCertificate ?? (await read(clientCertificate)),
      key: executed?.clientKey ?? (await read(clientKey)),
    };
    const token = executed?.token ?? (await read(endpoint.token))?.trim();
    const credentials = {
      headers: { ...endpoint.headers, ...(token && { authorization: `Bearer ${token}` }) },
      tls: latest && equalJson(latest.credentials.tls, tls) ? latest.credentials.tls : tls,
    };
    const expiresMs = executed?.expiresAt?.getTime() ?? Infinity;
    latest = { credentials, staleAt: Math.min(now().getTime() + rereadMs, expiresMs) };
    return credentials;
  }
}

// As client-go does. The kubelet renews a token when 80 % of its time is over.
const rereadMs = 60_000;

async function read(secret: Secret | undefined): Promise<string | undefined> {
  if (secret === undefined || "text" in secret) return secret?.text;
  try {
    return await readFile(secret.file, "utf8");
  } catch (cause) {
    throw new KubeError(`read ${secret.file}`, "BadConfig", { words: "credentials are expected there", cause });
  }
}
