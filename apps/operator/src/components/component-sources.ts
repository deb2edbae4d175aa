// SPDX-License-Identifier: Apache-2.0
/**
 * What the controllers of the operator configs have in common: the settings of components, and when to look at them again.
 */
import { operatorConfigName, type Node } from "@switchyard/api";
import { registeredPath } from "@switchyard/certificates";
import { equalJson, type CacheChange, type KubeObject, type Source } from "@switchyard/kube";
import { hasLabels, labelsOf, type Labels } from "@switchyard/policy";
import { isControlPlaneExternal, isOfControlPlane, type ComponentSettings } from "@switchyard/render";
import type { WatchedServerCertificates } from "../facts/certified-servers.ts";
import { usesClaims } from "../facts/claim-use.ts";
import type { OperatorContext } from "../operator-context.ts";
import type { WatchedComponentObjects } from "./component-objects.ts";
import { reviewPathSettings } from "./review-path.ts";

/** Returns the settings for the current state of the cluster. */
export function settingsIn({ caches, settings, rules }: OperatorContext): ComponentSettings {
  const { clusterSettings, nodes } = caches;
  const { webhook } = settings.components;
  return {
    usesClaims: usesClaims({ caches, rules }),
    lacksClaims: rules()?.lacksClaims,
    ...settings.components,
    webhook: {
      ...webhook,
      ...(webhook.certificates.kind === "self-made"
        ? { secretPath: secretPathIn(caches.certificates, webhook.secretName) }
        : reviewPathSettings(caches.componentObjects, clusterSettings.owner()?.uid)),
    },
    tls: clusterSettings.tls() ?? settings.components.tls,
    isControlPlaneExternal: clusterSettings.isControlPlaneExternal() ?? isControlPlaneExternal(nodes.list()),
  };
}

/** The last secret path of each cluster. The webhook's pods know it also while somebody has deleted the Secret. */
const lastPaths = new WeakMap<WatchedServerCertificates, string>();

function secretPathIn(certificates: WatchedServerCertificates, secretName: string): string | undefined {
  const secret = certificates.watches.get("operator-webhook")?.secrets.get(secretName);
  if (secret === undefined) return lastPaths.get(certificates);
  const path = registeredPath(secret.data);
  lastPaths.set(certificates, path);
  return path;
}

/** Calls `enqueue` when the Secret of a certificate changes, which has the path of the webhook. */
export function subscribeToCertificates({ watches }: WatchedServerCertificates, enqueue: () => void): () => void {
  const ends = [...watches.values()].map(({ secrets }) => secrets.subscribe(enqueue));
  return () => {
    for (const end of ends) end();
  };
}

/** Returns undefined for an object that is being deleted. */
export function existing<Config extends KubeObject>(config: Config | undefined): Config | undefined {
  return config?.metadata.deletionTimestamp === undefined ? config : undefined;
}

/** Calls `enqueue` when an object of a component is created, changed or deleted. Returns a function that ends this. */
export function subscribeToComponents({ watches }: WatchedComponentObjects, enqueue: () => void): () => void {
  const ends = watches.map(({ cache }) => {
    return cache.subscribe(({ before, after }) => {
      if (before !== undefined || after !== undefined) enqueue();
    });
  });
  return () => {
    for (const end of ends) end();
  };
}

/**
 * Enqueues the name of the SriovOperatorConfig, whether it exists or not: without it, leftovers have to be removed. The
 * controller waits for all caches of the context, so this source need not wait for one.
 */
export function enqueuesConfig(subscribe: (enqueue: () => void) => () => void): Source {
  return {
    start: (enqueue) =>
      subscribe(() => {
        enqueue(operatorConfigName);
      }),
    whenSynced: () => Promise.resolve(),
  };
}

/**
 * changesControlPlane reports whether a change of a Node can change the result of isControlPlaneExternal. Webhook and
 * injector run on control plane nodes, or on any node if the cluster has none.
 */
export function changesControlPlane({ before, after }: CacheChange<Node>): boolean {
  return before === undefined || after === undefined || isOfControlPlane(before) !== isOfControlPlane(after);
}

/** Reports whether a change of a Node can change on which nodes components can run: its taints, its roles, or the node set. */
export function changesPlacement(change: CacheChange<Node>, nodeSet: Labels): boolean {
  const { before, after } = change;
  if (before === undefined || after === undefined || changesControlPlane(change)) return true;
  return (
    hasLabels(labelsOf(before), nodeSet) !== hasLabels(labelsOf(after), nodeSet) ||
    !equalJson(before.spec?.taints, after.spec?.taints)
  );
}
