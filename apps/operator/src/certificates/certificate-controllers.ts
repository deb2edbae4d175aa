// SPDX-License-Identifier: Apache-2.0
/**
 * startCertificateControllers starts the controller that keeps the certificates of the webhook and the injector. Its
 * keys are the names of the two components.
 */
import {
  afxdpOperatorConfigs,
  labels,
  operatorConfigName,
  sriovOperatorConfigs,
  type AfxdpOperatorConfig,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { createCertificateStore } from "@switchyard/certificates";
import { createWriter, fromCache, type Reconcile } from "@switchyard/kube";
import { componentSpec } from "@switchyard/render";
import { existing } from "../components/component-sources.ts";
import { configOwner } from "../facts/config-exists.ts";
import type { OperatorContext } from "../operator-context.ts";
import { createConfigCondition } from "../reports/config-condition.ts";
import { certifiedServers, dnsNames, type CertifiedServer } from "../facts/certified-servers.ts";
import { createServerCertificateReconciler } from "./server-certificate-reconciler.ts";

export function startCertificateControllers(context: OperatorContext): void {
  const { transport, caches, settings, nowMs, now, start } = context;
  const { operatorConfigs, afxdpConfigs, certificates } = caches;
  const { namespace, components } = settings;
  const keys = certifiedServers.map(({ component }) => component);
  const reconcilers = new Map<string, Reconcile>(
    certifiedServers.map((server) => [server.component, createReconciler(server)]),
  );

  start({
    name: "certificates",
    parallel: 1,
    reads: [operatorConfigs, afxdpConfigs, certificates],
    reconcile: async (key, signal) => reconcilers.get(key)?.(key, signal),
    sources: [
      fromCache(operatorConfigs, () => keys),
      fromCache(afxdpConfigs, () => keys),
      {
        start(enqueue) {
          for (const key of keys) enqueue(key); // removes leftovers even if there is no config
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

  /** The configs that exist and are not being deleted. */
  function present() {
    return {
      sriov: existing(operatorConfigs.get(operatorConfigName)),
      afxdp: existing(afxdpConfigs.get(operatorConfigName)),
    };
  }

  function createReconciler(server: CertifiedServer): Reconcile {
    const { component, manager } = server;
    const watches = certificates.watches.get(component);
    const common = { transport, namespace, manager };
    const condition = { type: server.conditionType, now };
    const setOnSriov = createConfigCondition({
      ...condition,
      writer: createWriter<SriovOperatorConfig>({ ...common, type: sriovOperatorConfigs, cache: operatorConfigs }),
    });
    const setOnAfxdp = createConfigCondition({
      ...condition,
      writer: createWriter<AfxdpOperatorConfig>({ ...common, type: afxdpOperatorConfigs, cache: afxdpConfigs }),
    });
    const describe = () => {
      const { sriov, afxdp } = present();
      return {
        labels: { [labels.managedBy]: "switchyard-operator", "app.kubernetes.io/component": component },
        ownerReferences: sriov ? [configOwner(sriov)] : afxdp ? [configOwner(afxdp, afxdpOperatorConfigs)] : [],
      };
    };
    return createServerCertificateReconciler({
      server,
      configs() {
        const { sriov, afxdp } = present();
        return {
          spec: componentSpec({ sriov, afxdp }),
          async report(next, signal) {
            if (sriov !== undefined) await setOnSriov(sriov, next, signal);
            if (afxdp !== undefined) await setOnAfxdp(afxdp, sriov === undefined ? next : undefined, signal);
          },
        };
      },
      store: watches && createCertificateStore({ transport, watches, describe }),
      secretName: server.settings(components).secretName,
      names: dnsNames(server, components),
      nowMs,
    });
  }
}
