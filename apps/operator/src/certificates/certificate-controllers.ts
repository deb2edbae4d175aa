// SPDX-License-Identifier: Apache-2.0
/**
 * startCertificateControllers starts the controller that keeps the certificates of the webhook and the injector. Its
 * keys are the names of the two components.
 * Usage: `startCertificateControllers(context);`
 */
import { labels, operatorConfigName, sriovOperatorConfigs, type SriovOperatorConfig } from "@switchyard/api";
import { createCertificateStore } from "@switchyard/certificates";
import { createWriter, fromCache, type Reconcile } from "@switchyard/kube";
import { configOwner } from "../components/config-owner.ts";
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
          for (const key of keys) enqueue(key); // removes leftovers even if there is no SriovOperatorConfig
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
    const describe = () => {
      const config = operatorConfigs.get(operatorConfigName);
      return {
        labels: { [labels.managedBy]: "switchyard-operator", "app.kubernetes.io/component": component },
        ownerReferences: config === undefined ? [] : [configOwner(config)],
      };
    };
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
