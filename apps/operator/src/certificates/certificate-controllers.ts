// SPDX-License-Identifier: Apache-2.0
/**
 * The controller of the certificates that the operator makes for the servers it deploys; a key is a server's component.
 * Usage: `startCertificateControllers(context);`
 */
import {
  operatorConfigName,
  sriovOperatorConfigs,
  type OwnerReference,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { createCertificateStore } from "@switchyard/certificates";
import { createWriter, fromCache, type Reconcile } from "@switchyard/kube";
import type { OperatorContext } from "../operator-context.ts";
import { certifiedServers, dnsNames, type CertifiedServer } from "./certified-servers.ts";
import { createServerCertificateReconciler } from "./server-certificate-reconciler.ts";

export function startCertificateControllers({ transport, caches, settings, start }: OperatorContext): void {
  const { operatorConfigs, certificates } = caches;
  const { namespace, components } = settings;
  const keys = certifiedServers.map(({ component }) => component);
  const reconcilers = new Map<string, Reconcile>(
    certifiedServers.map((server) => [server.component, createReconciler(server)]),
  );

  start({
    name: "certificates",
    parallel: 1,
    reads: [operatorConfigs, certificates],
    reconcile: async (key, signal) => reconcilers.get(key)?.(key, signal),
    sources: [
      fromCache(operatorConfigs, () => keys),
      {
        start(enqueue) {
          for (const key of keys) enqueue(key); // leftovers are removed also where there is no config
          const ends = [...certificates.watches].map(([component, watches]) =>
            watches.subscribe(() => {
              enqueue(component);
            }),
          );
          return () => {
            for (const end of ends) end();
          };
        },
        whenSynced: (signal) => certificates.whenSynced(signal),
      },
    ],
  });

  function createReconciler(server: CertifiedServer): Reconcile {
    const { component, manager } = server;
    const watches = certificates.watches.get(component);
    const describe = () => ({
      labels: { "app.kubernetes.io/managed-by": "switchyard-operator", "app.kubernetes.io/component": component },
      ownerReferences: ownersOf(operatorConfigs.get(operatorConfigName)),
    });
    return createServerCertificateReconciler({
      ...{ server, operatorConfigs },
      store: watches && createCertificateStore({ transport, watches, describe }),
      secretName: server.settings(components).secretName,
      names: dnsNames(server, components),
      statusWriter: createWriter<SriovOperatorConfig>({
        ...{ transport, namespace, type: sriovOperatorConfigs, manager },
        cache: operatorConfigs,
      }),
      nowMs: Date.now,
    });
  }
}

/** So that the Secret is deleted with the config, also while no operator runs. */
function ownersOf(config: SriovOperatorConfig | undefined): readonly OwnerReference[] {
  if (config === undefined) return [];
  const { apiVersion, kind, metadata } = config;
  const { name, uid = "" } = metadata;
  return [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }];
}
