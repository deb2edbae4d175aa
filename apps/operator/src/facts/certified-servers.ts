// SPDX-License-Identifier: Apache-2.0
/**
 * certifiedServers lists the servers that the API server calls and that need a certificate: the admission webhook and
 * the network resources injector. Neither may read Secrets or change its own webhook registration, so the operator
 * issues both certificates.
 */
import { conditionTypes, type SriovOperatorConfigSpec } from "@switchyard/api";
import {
  serviceNames,
  watchCertificates,
  type CertificatePlaces,
  type CertificateWatches,
  type RegistrationName,
} from "@switchyard/certificates";
import { joinWatches, type FailedWatch, type JoinedWatches, type Transport } from "@switchyard/kube";
import {
  componentInventory,
  hasOwnSecret,
  type AdmissionServerSettings,
  type ComponentName,
  type ComponentSettings,
} from "@switchyard/render";
import { fieldManagers } from "../field-managers.ts";

export interface CertifiedServer {
  readonly component: ComponentName;
  readonly settings: (settings: ComponentSettings) => AdmissionServerSettings;
  /** Whether the result of componentSpec enables the server. */
  readonly isWanted: (spec: SriovOperatorConfigSpec) => boolean;
  /** Type of the condition that reports on the certificate, on the config. */
  readonly conditionType: string;
  /** Field manager of that condition. */
  readonly manager: string;
}

export interface WatchedServerCertificates extends JoinedWatches {
  /** By component. Components whose certificate has another issuer are missing. */
  readonly watches: ReadonlyMap<ComponentName, CertificateWatches>;
}

interface WatchServerCertificatesOptions {
  readonly transport: Transport;
  readonly settings: ComponentSettings;
  /** Called for each failure of a watch, which is then retried. */
  readonly report: (error: unknown, at: FailedWatch) => void;
}

export const certifiedServers: readonly CertifiedServer[] = [
  {
    component: "operator-webhook",
    settings: ({ webhook }) => webhook,
    isWanted: ({ enableOperatorWebhook }) => enableOperatorWebhook === true,
    conditionType: conditionTypes.webhookCertificate,
    manager: fieldManagers.webhookCertificate,
  },
  {
    component: "network-resources-injector",
    settings: ({ injector }) => injector,
    isWanted: ({ enableInjector }) => enableInjector === true,
    conditionType: conditionTypes.injectorCertificate,
    manager: fieldManagers.injectorCertificate,
  },
];

/**
 * Reports whether the operator issues the server's certificate. If both servers share one Secret, it is the webhook's.
 */
function isIssuedByOperator({ component, settings: of }: CertifiedServer, settings: ComponentSettings): boolean {
  if (of(settings).certificates.kind !== "self-made") return false;
  return component === "operator-webhook" || hasOwnSecret(settings);
}

/** Returns the Secret that stores the certificate and the webhook registrations that contain its CA. */
function certificatePlaces(
  { component, settings: of }: CertifiedServer,
  settings: ComponentSettings,
): CertificatePlaces {
  const registrations = componentInventory(settings).flatMap(({ type, ...item }): readonly RegistrationName[] => {
    const { kind } = type;
    return item.component === component && isRegistrationKind(kind) ? [{ kind, name: item.name }] : [];
  });
  return { namespace: settings.namespace, secretName: of(settings).secretName, registrations };
}

/** DNS names by which the API server calls the server. */
export function dnsNames({ component }: CertifiedServer, settings: ComponentSettings): readonly string[] {
  return componentInventory(settings)
    .filter((item) => item.component === component && item.type.kind === "Service")
    .flatMap(({ name }) => serviceNames(name, settings.namespace));
}

function isRegistrationKind(kind: string): kind is RegistrationName["kind"] {
  return kind === "MutatingWebhookConfiguration" || kind === "ValidatingWebhookConfiguration";
}

/**
 * watchServerCertificates watches the Secrets and webhook registrations of the certificates that the operator issues. It does not
 * watch certificates of other issuers, so the operator never reads their keys.
 */
export function watchServerCertificates(options: WatchServerCertificatesOptions): WatchedServerCertificates {
  const { transport, settings, report } = options;
  const watches = new Map(
    certifiedServers
      .filter((server) => isIssuedByOperator(server, settings))
      .map((server) => [
        server.component,
        watchCertificates({ transport, places: certificatePlaces(server, settings), report }),
      ]),
  );
  return Object.assign(joinWatches([...watches.values()]), { watches });
}
