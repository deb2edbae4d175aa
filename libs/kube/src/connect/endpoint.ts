// SPDX-License-Identifier: Apache-2.0
/**
 * An API server and how to authenticate to it: the result of reading a kubeconfig or a pod's service account.
 * Usage: `const { server, credentials } = await readInCluster(process.env)`.
 */
import type { CredentialSource } from "./credentials.ts";

export interface Endpoint {
  readonly server: URL;
  readonly namespace: string;
  /** Requests are anonymous, and the system's certificate authorities are trusted, unless given. */
  readonly credentials?: CredentialSource | undefined;
  /** The name that the server's certificate must have, if not the URL's. */
  readonly serverName?: string | undefined;
  /** Trust any server. */
  readonly insecure?: boolean | undefined;
  /** "host:port" of the proxy that connections go through, for errors. The credentials bring its agent. */
  readonly proxy?: string | undefined;
}
