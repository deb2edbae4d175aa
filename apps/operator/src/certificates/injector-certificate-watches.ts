// SPDX-License-Identifier: Apache-2.0
/**
 * What there is of the certificate of the network resources injector. Where somebody else makes it, nothing is watched:
 * another's keys are not for us to read, the webhook's not to take for the injector's.
 * Usage: `await using injectorCertificate = watchInjectorCertificate({ transport, settings, report });`
 */
import { serviceNames, watchCertificates, type CertificateWatches } from "@switchyard/certificates";
import { joinWatches, type JoinedWatches, type Transport } from "@switchyard/kube";
import { componentInventory, hasOwnSecret, type ComponentName, type ComponentSettings } from "@switchyard/render";

export interface WatchedInjectorCertificate extends JoinedWatches {
  /** Undefined where it is not for us to make. */
  readonly watches: CertificateWatches | undefined;
}

export interface WatchInjectorCertificateOptions {
  readonly transport: Transport;
  readonly settings: ComponentSettings;
  /** Told each failure of a watch; it is taken up again. */
  readonly report: (error: unknown) => void;
}

export const injector: ComponentName = "network-resources-injector";

export function watchInjectorCertificate(options: WatchInjectorCertificateOptions): WatchedInjectorCertificate {
  const { transport, settings, report } = options;
  const { certificates, secretName } = settings.injector;
  const isOurs = certificates.kind === "self-made" && hasOwnSecret(settings);
  const kind = "MutatingWebhookConfiguration";
  const registrations = [{ kind, name: nameOf(kind, settings) }] as const;
  const places = { namespace: settings.namespace, secretName, registrations };
  const watches = isOurs ? watchCertificates({ transport, places, report }) : undefined;
  return Object.assign(joinWatches(watches === undefined ? [] : [watches]), { watches });
}

/** What the API server calls it by. */
export function injectorNames(settings: ComponentSettings): readonly string[] {
  return serviceNames(nameOf("Service", settings), settings.namespace);
}

function nameOf(kind: string, settings: ComponentSettings): string {
  const found = componentInventory(settings).find(
    ({ component, type }) => component === injector && type.kind === kind,
  );
  if (found === undefined) throw new RangeError(`${injector} has no ${kind}`);
  return found.name;
}
