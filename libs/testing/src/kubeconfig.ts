// SPDX-License-Identifier: Apache-2.0
/**
 * renderKubeconfig makes a kubeconfig for one server and one user, as JSON, which is also YAML.
 * Usage: `renderKubeconfig({ server: "https://127.0.0.1:6443", authority: ca.cert, as: { token } })`.
 */
import type { KeyPair } from "./certificates.ts";

/** Credentials of a user: a certificate with its key, or a token. */
export type Credentials = KeyPair | { readonly token: string };

export interface KubeconfigParts {
  /** "https://127.0.0.1:6443" */
  readonly server: string;
  /** CA certificate of the server in PEM format. */
  readonly authority: string;
  readonly as: Credentials;
}

/** Returns the text of the file. It contains the certificates, so the file can be moved. */
export function renderKubeconfig({ server, authority, as }: KubeconfigParts): string {
  const user =
    "token" in as
      ? { token: as.token }
      : { "client-certificate-data": toBase64(as.cert), "client-key-data": toBase64(as.key) };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server, "certificate-authority-data": toBase64(authority) } }],
    users: [{ name: "test", user }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
    "current-context": "test",
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

function toBase64(text: string): string {
  return Buffer.from(text).toString("base64");
}
