// SPDX-License-Identifier: Apache-2.0
/**
 * Kubeconfig text for one server and one user. Written as JSON, which is YAML too.
 * Usage: `renderKubeconfig({ server, authority: ca.cert, as: { token } })`
 */
import type { KeyPair } from "./certificates.ts";

/** How the user proves who it is: by certificate, or by a token, such as one of a service account. */
export type Credentials = KeyPair | { readonly token: string };

export interface KubeconfigParts {
  /** "https://127.0.0.1:6443" */
  readonly server: string;
  /** PEM certificate of the authority that signed the server's. */
  readonly authority: string;
  readonly as: Credentials;
}

/** The file's text. Certificates are inside, so the file can be moved. */
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
