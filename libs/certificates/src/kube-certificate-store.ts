// SPDX-License-Identifier: Apache-2.0
/**
 * createCertificateStore stores certificates in a Secret and publishes their CAs in the caBundle of webhook configurations.
 * It never writes or deletes a Secret that another program has filled.
 * Usage: `const store = createCertificateStore({ transport, watches })`.
 */
import { collectionPath, isKubeError, objectPath, type ObjectMeta, type Transport } from "@switchyard/kube";
import type { CertificateStore } from "./certificate-keeper.ts";
import { fromSecretData, isOwnSecret, toBase64, toSecretData, trustedCa } from "./certificate-secret.ts";
import {
  secretType as type,
  type CertificateWatches,
  type RegistrationWatch,
  type SeenRegistration,
  type SeenSecret,
} from "./certificate-watches.ts";

/** The error class of this library. Branch on `code`, never on the message. */
export class CertificatesError extends Error {
  override readonly name = "CertificatesError";
  /** "ForeignSecret": the Secret has a certificate that Switchyard did not issue. */
  readonly code: "ForeignSecret";
  /** "namespace/name" */
  readonly secret: string;

  constructor(code: CertificatesError["code"], secret: string) {
    super(
      `Secret ${secret} has a certificate that Switchyard did not issue; delete the Secret, or configure the CA certificate of its issuer`,
    );
    this.code = code;
    this.secret = secret;
  }
}

/** read() throws CertificatesError "ForeignSecret". All other methods reject with KubeError. */
export interface KubeCertificateStore extends CertificateStore {
  /** The CA certificates in a Secret that another program has filled, as PEM. Undefined if there are none. */
  foreignCa(): string | undefined;
  /** Deletes the Secret if Switchyard wrote it. The published CA bundle stays. */
  remove(signal: AbortSignal): Promise<void>;
}

export interface CertificateStoreOptions {
  readonly transport: Pick<Transport, "request">;
  readonly watches: CertificateWatches;
  /** Returns labels and owner references for the Secret; none by default. */
  readonly describe?: () => Pick<ObjectMeta, "labels" | "ownerReferences">;
}

export function createCertificateStore(options: CertificateStoreOptions): KubeCertificateStore {
  const { transport, watches, describe = () => ({}) } = options;
  const { namespace, secretName: name } = watches.places;
  const path = objectPath(type, { name, namespace });
  /** The Secret of the last read(). A write must not overwrite a later version. */
  let basis: SeenSecret | undefined;

  return {
    read() {
      basis = watches.secrets.get(name);
      if (basis === undefined || Object.keys(basis.data).length === 0) return undefined;
      if (!isOwnSecret(basis.data)) throw new CertificatesError("ForeignSecret", `${namespace}/${name}`);
      return fromSecretData(basis.data);
    },
    async write(stored) {
      const { uid, resourceVersion } = basis ?? {};
      const metadata = { ...describe(), name, namespace, ...(basis && { uid, resourceVersion }) };
      const body = {
        apiVersion: "v1",
        kind: "Secret",
        type: "kubernetes.io/tls",
        metadata,
        data: toSecretData(stored),
      };
      try {
        await transport.request(
          basis === undefined
            ? { method: "POST", path: collectionPath(type, namespace), body }
            : { method: "PUT", path, body },
        );
        return "written";
      } catch (error) {
        if (isKubeError(error, "AlreadyExists", "Conflict", "NotFound")) return "lost";
        throw error;
      }
    },
    async publish(bundle) {
      const caBundle = toBase64(bundle);
      const changes = await Promise.all(watches.registrations.map((watch) => publishTo(transport, watch, caBundle)));
      return changes.includes(true) ? "changed" : "published";
    },
    foreignCa() {
      const { data } = watches.secrets.get(name) ?? {};
      return data === undefined || isOwnSecret(data) ? undefined : trustedCa(data);
    },
    async remove(signal) {
      const secret = watches.secrets.get(name);
      if (secret === undefined || !isOwnSecret(secret.data)) return;
      const { uid, resourceVersion } = secret;
      const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid, resourceVersion } };
      try {
        await transport.request({ method: "DELETE", path, body, signal });
      } catch (error) {
        // The watch reports the change, too.
        if (!isKubeError(error, "NotFound", "Conflict")) throw error;
      }
    },
  };
}

/** Returns whether the webhook configuration has changed. */
async function publishTo(
  transport: Pick<Transport, "request">,
  watch: RegistrationWatch,
  caBundle: string,
): Promise<boolean> {
  const { type: registrationType, name, cache } = watch;
  const body = differences(cache.get(name) ?? [], caBundle);
  if (body.length === 0) return false;
  const path = objectPath(registrationType, { name });
  await transport.request({ method: "PATCH", path, body, contentType: "application/json-patch+json" });
  return true;
}

function differences(webhooks: SeenRegistration, caBundle: string): readonly object[] {
  return webhooks.flatMap((webhook, index) =>
    webhook.caBundle === caBundle
      ? []
      : [
          { op: "test", path: `/webhooks/${index}/name`, value: webhook.name }, // fails if the list has changed
          { op: "add", path: `/webhooks/${index}/clientConfig/caBundle`, value: caBundle },
        ],
  );
}
