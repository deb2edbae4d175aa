// SPDX-License-Identifier: Apache-2.0
/**
 * watchServerCertificates watches the Secrets and webhook registrations of the certificates that the operator issues.
 * It does not watch certificates of other issuers, so the operator never reads their keys.
 * Usage: `await using certificates = watchServerCertificates({ transport, settings, report });`
 */
import { watchCertificates, type CertificateWatches } from "@switchyard/certificates";
import { joinWatches, type FailedWatch, type JoinedWatches, type Transport } from "@switchyard/kube";
import type { ComponentName, ComponentSettings } from "@switchyard/render";
import { certifiedServers, isIssuedByOperator, certificatePlaces } from "./certified-servers.ts";

export interface WatchedServerCertificates extends JoinedWatches {
  /** By component. Components whose certificate has another issuer are missing. */
  readonly watches: ReadonlyMap<ComponentName, CertificateWatches>;
}

export interface WatchServerCertificatesOptions {
  readonly transport: Transport;
  readonly settings: ComponentSettings;
  /** Called for each failure of a watch, which is then retried. */
  readonly report: (error: unknown, at: FailedWatch) => void;
}

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
