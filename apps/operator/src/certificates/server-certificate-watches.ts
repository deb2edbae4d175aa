// SPDX-License-Identifier: Apache-2.0
/**
 * What there is of the servers' certificates. A certificate that somebody else makes is not watched: the operator does not
 * read the keys of others.
 * Usage: `await using certificates = watchServerCertificates({ transport, settings, report });`
 */
import { watchCertificates, type CertificateWatches } from "@switchyard/certificates";
import { joinWatches, type FailedWatch, type JoinedWatches, type Transport } from "@switchyard/kube";
import type { ComponentName, ComponentSettings } from "@switchyard/render";
import { certifiedServers, isIssuedByOperator, certificatePlaces } from "./certified-servers.ts";

export interface WatchedServerCertificates extends JoinedWatches {
  /** By component; those that somebody else makes are missing. */
  readonly watches: ReadonlyMap<ComponentName, CertificateWatches>;
}

export interface WatchServerCertificatesOptions {
  readonly transport: Transport;
  readonly settings: ComponentSettings;
  /** Told each failure of a watch; the watch is tried again. */
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
