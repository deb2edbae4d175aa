// SPDX-License-Identifier: Apache-2.0
/**
 * Endpoint is an API server with credentials, from a kubeconfig or the service account of a pod.
 * Usage: `const { server, credentials } = await readInCluster(process.env)`.
 */
import type { CredentialSource } from "./credentials.ts";

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
