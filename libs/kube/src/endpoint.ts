// SPDX-License-Identifier: Apache-2.0
/**
 * Where an API server is and how we authenticate there: what a kubeconfig or a pod's service account comes down to.
 * Usage: `const { server, token } = await readInCluster({ env: process.env })`.
 */
import type { ExecPlugin } from "./exec-plugin.ts";

export interface Endpoint {
  readonly server: URL;
  readonly namespace: string;
  /** Without it, the system's authorities are trusted. */
  readonly authority?: Secret | undefined;
  readonly clientCertificate?: Secret | undefined;
  readonly clientKey?: Secret | undefined;
  /** The name that the server's certificate must have, if not the URL's. */
  readonly serverName?: string | undefined;
  /** Trust any server. */
  readonly insecure?: boolean | undefined;
  readonly token?: Secret | undefined;
  /** Authorization of user and password, impersonation. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly exec?: ExecPlugin | undefined;
}

/** What is in a file is read again from time to time: tokens and certificates are renewed there. */
export type Secret = { readonly file: string } | { readonly text: string };
