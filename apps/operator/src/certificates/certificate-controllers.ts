// SPDX-License-Identifier: Apache-2.0
/**
 * The controller of certificates that the operator makes for others.
 * Usage: `startCertificateControllers(context);`
 */
import {
  operatorConfigName,
  sriovOperatorConfigs,
  type OwnerReference,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { createCertificateStore } from "@switchyard/certificates";
import { createWriter, fromCache, type ObjectMeta } from "@switchyard/kube";
import { managers } from "../managers.ts";
import type { OperatorContext } from "../operator-context.ts";
import { createInjectorCertificateReconciler } from "./injector-certificate-reconciler.ts";
import { injector, injectorNames } from "./injector-certificate-watches.ts";

export function startCertificateControllers({ transport, caches, settings, start }: OperatorContext): void {
  const { operatorConfigs, injectorCertificate } = caches;
  const { namespace, components } = settings;
  const { watches } = injectorCertificate;
  const describe = (): Pick<ObjectMeta, "labels" | "ownerReferences"> => ({
    labels: { "app.kubernetes.io/managed-by": "switchyard-operator", "app.kubernetes.io/component": injector },
    ownerReferences: ownersOf(operatorConfigs.get(operatorConfigName)),
  });

  start({
    name: "certificates",
    parallel: 1,
    reconcile: createInjectorCertificateReconciler({
      operatorConfigs,
      store: watches && createCertificateStore({ transport, watches, describe }),
      secretName: components.injector.secretName,
      names: injectorNames(components),
      statusWriter: createWriter<SriovOperatorConfig>({
        ...{ transport, namespace, type: sriovOperatorConfigs },
        manager: managers.certificates,
        cache: operatorConfigs,
      }),
      nowMs: Date.now,
    }),
    sources: [
      fromCache(operatorConfigs, () => [injector]),
      {
        start(enqueue) {
          enqueue(injector); // what was left of it goes also where there is no config
          const ends = watches?.subscribe(() => {
            enqueue(injector);
          });
          return () => ends?.();
        },
        whenSynced: (signal) => injectorCertificate.whenSynced(signal),
      },
    ],
  });
}

/** So that the Secret goes with the config, also when no operator is there. */
function ownersOf(config: SriovOperatorConfig | undefined): readonly OwnerReference[] {
  if (config === undefined) return [];
  const { apiVersion, kind, metadata } = config;
  const { name, uid = "" } = metadata;
  return [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }];
}
