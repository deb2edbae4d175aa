// SPDX-License-Identifier: Apache-2.0
/**
 * watchCertificates watches the Secret with a serving certificate, and the webhook configurations with its CA bundle, so
 * that a deleted or changed object is restored at once.
 * Usage: `await using watches = watchCertificates({ transport, places, report });`
 */
import {
  joinWatches,
  watchObjects,
  type Cache,
  type FailedWatch,
  type JoinedWatches,
  type KubeObject,
  type ResourceType,
  type Transport,
} from "@switchyard/kube";
import type { SecretData } from "./certificate-secret.ts";

export interface CertificatePlaces {
  readonly namespace: string;
  /** Name of a Secret for this certificate only. */
  readonly secretName: string;
  /** Webhook configurations that refer to the server. */
  readonly registrations: readonly RegistrationName[];
}

export interface RegistrationName {
  readonly kind: keyof typeof registrationTypes;
  readonly name: string;
}

export interface SeenSecret {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly data: SecretData;
}

/** The webhooks of a configuration, in order. */
export type SeenRegistration = readonly { readonly name: string; readonly caBundle: string | undefined }[];

export interface CertificateWatches extends JoinedWatches {
  readonly places: CertificatePlaces;
  readonly secrets: Cache<SeenSecret>;
  readonly registrations: readonly RegistrationWatch[];
}

export interface RegistrationWatch {
  readonly type: ResourceType;
  readonly name: string;
  readonly cache: Cache<SeenRegistration>;
}

export interface WatchCertificatesOptions {
  readonly transport: Transport;
  readonly places: CertificatePlaces;
  /** Called for each failure of a watch, which is retried. */
  readonly report: (error: unknown, at: FailedWatch) => void;
}

export const secretType = { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true } as const;

const registrationTypes = {
  MutatingWebhookConfiguration: registrationType("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
  ValidatingWebhookConfiguration: registrationType("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
};

interface Secret extends KubeObject {
  readonly data?: SecretData;
}

interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly { readonly name: string; readonly clientConfig?: { readonly caBundle?: string } }[];
}

export function watchCertificates({ transport, places, report }: WatchCertificatesOptions): CertificateWatches {
  const named = (name: string) => ({ transport, report, fieldSelector: `metadata.name=${name}` });
  const secrets = watchObjects({
    ...named(places.secretName),
    type: secretType,
    namespace: places.namespace,
    project: ({ metadata: { uid = "", resourceVersion = "" }, data = {} }: Secret) => ({ uid, resourceVersion, data }),
  });
  const registrations = places.registrations.map(({ kind, name }) => {
    const type = registrationTypes[kind];
    const project = ({ webhooks = [] }: WebhookConfiguration): SeenRegistration =>
      webhooks.map((webhook) => ({ name: webhook.name, caBundle: webhook.clientConfig?.caBundle }));
    return { type, name, cache: watchObjects({ ...named(name), type, project }) };
  });
  const joined = joinWatches([secrets, ...registrations.map(({ cache }) => cache)]);
  return Object.assign(joined, { places, secrets, registrations });
}

function registrationType(kind: string, plural: string): ResourceType {
  return { group: "admissionregistration.k8s.io", version: "v1", kind, plural, namespaced: false };
}
