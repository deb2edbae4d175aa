// SPDX-License-Identifier: Apache-2.0
/**
 * writeControlPlaneFiles writes the files of a control plane: certificates, keys, kubeconfigs and the audit policy.
 * Usage: `const { writeKubeconfig } = await writeControlPlaneFiles(layout)`
 */
import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { renderAuditPolicy } from "./audit-log.ts";
import { createAuthority, type Authority, type KeyPair, type UserIdentity } from "./certificates.ts";
import {
  apiServiceAddress,
  controlPlaneFiles,
  egressConfiguration,
  serverUrl,
  type ControlPlaneLayout,
} from "./control-plane-flags.ts";

/** A user, for whom a certificate is issued, or a token of the API server, such as that of a service account. */
export type Client = UserIdentity | { readonly token: string };

/** Credentials of a user: a certificate with its key, or a token. */
type Credentials = KeyPair | { readonly token: string };

interface KubeconfigParts {
  /** "https://127.0.0.1:6443" */
  readonly server: string;
  /** CA certificate of the server in PEM format. */
  readonly authority: string;
  readonly as: Credentials;
}

/** Address of this machine in guests of QEMU's user networking. */
const hostInGuests = "10.0.2.2";

export interface ControlPlaneFiles {
  /** Issues the certificates of clients. */
  readonly authority: KeyPair;
  /** Credentials of the cluster administrator. */
  readonly admin: KeyPair & { readonly ca: string };
  /** Writes a kubeconfig for the client into the directory and returns its path. */
  writeKubeconfig(name: string, client: Client): Promise<string>;
}

const authorityName = "switchyard-test";

/** Writes new files. Certificates of an earlier run in this directory become invalid; its objects in etcd stay. */
export async function writeControlPlaneFiles(layout: ControlPlaneLayout): Promise<ControlPlaneFiles> {
  const { dataDir } = layout;
  const authority = createAuthority(authorityName);
  const server = authority.issueServer([
    ...["127.0.0.1", "localhost", "kubernetes", "kubernetes.default.svc"],
    ...[apiServiceAddress, hostInGuests], // for pods and kubelets of a guest
  ]);
  const kubeletClient = authority.issueClient({ user: "kube-apiserver", groups: ["system:masters"] });
  const serviceAccounts = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const texts = {
    caCert: authority.cert,
    serverCert: server.cert,
    serverKey: server.key,
    serviceAccountKey: serviceAccounts.privateKey.export({ type: "pkcs8", format: "pem" }),
    serviceAccountPublicKey: serviceAccounts.publicKey.export({ type: "spki", format: "pem" }),
    auditPolicy: renderAuditPolicy(),
    egress: egressConfiguration(layout),
    kubeletClientCert: kubeletClient.cert,
    kubeletClientKey: kubeletClient.key,
  };
  const names = Object.keys(texts).filter((name): name is keyof typeof texts => name in texts);
  await Promise.all(names.map((name) => writePrivately(join(dataDir, controlPlaneFiles[name]), texts[name])));
  return writeClientFiles(authority, serverUrl(layout), dataDir);
}

/** Writes the files of clients of a control plane that has other files elsewhere, whose authority is `authority`. */
export async function borrowControlPlaneFiles(
  authority: KeyPair,
  layout: ControlPlaneLayout,
  directory: string,
): Promise<ControlPlaneFiles> {
  return writeClientFiles(createAuthority(authorityName, new Date(), authority), serverUrl(layout), directory);
}

async function writeClientFiles(authority: Authority, server: string, directory: string): Promise<ControlPlaneFiles> {
  const admin = authority.issueClient({ user: "admin", groups: ["system:masters"] });
  const write = async (path: string, as: Credentials): Promise<string> => {
    await writePrivately(path, renderKubeconfig({ server, authority: authority.cert, as }));
    return path;
  };
  await write(join(directory, controlPlaneFiles.admin), admin);
  return {
    authority: { cert: authority.cert, key: authority.key },
    admin: { ...admin, ca: authority.cert },
    writeKubeconfig: (name, client) =>
      write(join(directory, `${name}.kubeconfig`), "token" in client ? client : authority.issueClient(client)),
  };
}

async function writePrivately(path: string, text: string | Buffer): Promise<void> {
  await writeFile(path, text, { mode: 0o600 });
}

/**
 * renderKubeconfig makes a kubeconfig for one server and one user, as JSON, which is also YAML. Returns the text of the file. It
 * contains the certificates, so the file can be moved.
 */
function renderKubeconfig({ server, authority, as }: KubeconfigParts): string {
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
