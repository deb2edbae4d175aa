// SPDX-License-Identifier: Apache-2.0
/**
 * Certificates in a Secret, and their authorities in the caBundle of our webhook configurations. Both are watched, so that
 * what somebody deletes or overwrites is put right at once.
 * Usage: `await using store = openCertificateStore({ transport, namespace, secretName, configurationName, report });`
 */
import {
  isKubeError,
  objectPath,
  collectionPath,
  watchObjects,
  type Cache,
  type KubeObject,
  type Transport,
} from "@switchyard/kube";
import { bundleOf, type StoredCertificates } from "./certificate-state.ts";
import type { CertificateStore } from "./certificate-keeper.ts";
import type { IssuedCertificate } from "./issued-certificate.ts";

export interface KubeCertificateStore extends CertificateStore, AsyncDisposable {
  /** Change when something is to be looked at. */
  readonly caches: readonly Cache<KubeObject>[];
}

export interface KubeCertificateStoreOptions {
  readonly transport: Transport;
  readonly namespace: string;
  readonly secretName: string;
  /** Of the MutatingWebhookConfiguration and of the ValidatingWebhookConfiguration. */
  readonly configurationName: string;
  /** Told each failure of a watch; it is taken up again. */
  readonly report: (error: unknown) => void;
}

/** A Secret, the fields that are used. */
interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** A webhook configuration of either kind, the fields that are used. */
interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly { readonly name: string; readonly clientConfig?: { readonly caBundle?: string } }[];
}

const secrets = { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true } as const;
const registration = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false } as const;
const configurationTypes = [
  { ...registration, kind: "MutatingWebhookConfiguration", plural: "mutatingwebhookconfigurations" },
  { ...registration, kind: "ValidatingWebhookConfiguration", plural: "validatingwebhookconfigurations" },
] as const;

/** Keys of the Secret: the first three are those that a mounted TLS Secret has. */
const keys = {
  bundle: "ca.crt",
  cert: "tls.crt",
  key: "tls.key",
  currentCa: "current-ca.crt",
  nextCa: "next-ca.crt",
  nextCert: "next-tls.crt",
  nextKey: "next-tls.key",
  previousCa: "previous-ca.crt",
} as const;

export function openCertificateStore(options: KubeCertificateStoreOptions): KubeCertificateStore {
  const { transport, namespace, secretName, configurationName, report } = options;
  const secretCache = watchObjects({
    ...{ transport, report, namespace, type: secrets, fieldSelector: `metadata.name=${secretName}` },
    project: (secret: Secret) => secret,
  });
  const configurations = configurationTypes.map((type) => {
    const fieldSelector = `metadata.name=${configurationName}`;
    const project = (configuration: WebhookConfiguration) => configuration;
    return { type, cache: watchObjects({ transport, report, type, fieldSelector, project }) };
  });

  async function publishIn(type: (typeof configurationTypes)[number], found: WebhookConfiguration, caBundle: string) {
    const patch = (found.webhooks ?? []).flatMap(({ name, clientConfig }, index) =>
      clientConfig?.caBundle === caBundle
        ? []
        : [
            { op: "test", path: `/webhooks/${index}/name`, value: name }, // the list may be another by now
            { op: "add", path: `/webhooks/${index}/clientConfig/caBundle`, value: caBundle },
          ],
    );
    if (patch.length === 0) return false;
    const path = objectPath(type, { name: configurationName });
    await transport.request({ method: "PATCH", path, body: patch, contentType: "application/json-patch+json" });
    return true;
  }

  return {
    caches: [secretCache, ...configurations.map(({ cache }) => cache)],
    read() {
      const secret = secretCache.get(secretName);
      return secret && fromData(secret.data ?? {});
    },
    async write(stored) {
      const known = secretCache.get(secretName);
      const { uid, resourceVersion } = known?.metadata ?? {};
      const metadata = { name: secretName, namespace, ...(known && { uid, resourceVersion }) };
      const body = { apiVersion: "v1", kind: "Secret", type: "kubernetes.io/tls", metadata, data: toData(stored) };
      try {
        await transport.request(
          known === undefined
            ? { method: "POST", path: collectionPath(secrets, namespace), body }
            : { method: "PUT", path: objectPath(secrets, { name: secretName, namespace }), body },
        );
        return "written";
      } catch (error) {
        if (isKubeError(error, "AlreadyExists", "Conflict", "NotFound")) return "lost";
        throw error;
      }
    },
    async publish(bundle) {
      const caBundle = toBase64(bundle);
      const changes = await Promise.all(
        configurations.map(async ({ type, cache }) => {
          const found = cache.get(configurationName);
          return found !== undefined && publishIn(type, found, caBundle);
        }),
      );
      return changes.includes(true) ? "changed" : "published";
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(
        [secretCache, ...configurations.map(({ cache }) => cache)].map((one) => one[Symbol.asyncDispose]()),
      );
    },
  };
}

function toData(stored: StoredCertificates): Readonly<Record<string, string>> {
  const { current, next, previousCa } = stored;
  const texts = {
    [keys.bundle]: bundleOf(stored),
    [keys.cert]: current.cert,
    [keys.key]: current.key,
    [keys.currentCa]: current.ca,
    ...(next && { [keys.nextCa]: next.ca, [keys.nextCert]: next.cert, [keys.nextKey]: next.key }),
    ...(previousCa && { [keys.previousCa]: previousCa }),
  };
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, toBase64(text)]));
}

function fromData(data: Readonly<Record<string, string>>): StoredCertificates | undefined {
  const text = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString();
  const certificate = (ca: string, cert: string, key: string): IssuedCertificate | undefined =>
    [ca, cert, key].every((name) => data[name]) ? { ca: text(ca), cert: text(cert), key: text(key) } : undefined;
  const current = certificate(keys.currentCa, keys.cert, keys.key);
  if (current === undefined) return undefined;
  const next = certificate(keys.nextCa, keys.nextCert, keys.nextKey);
  return { current, next, previousCa: data[keys.previousCa] === undefined ? undefined : text(keys.previousCa) };
}

function toBase64(text: string): string {
  return Buffer.from(text).toString("base64");
}
