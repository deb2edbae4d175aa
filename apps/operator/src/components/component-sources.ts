// SPDX-License-Identifier: Apache-2.0
/**
 * What the controllers of the operator configs have in common: the settings of components, and when to look at them again.
 */
import { operatorConfigName } from "@switchyard/api";
import type { KubeObject, Source } from "@switchyard/kube";
import { isControlPlaneExternal, type ComponentSettings } from "@switchyard/render";
import type { OperatorContext } from "../operator-context.ts";
import type { WatchedComponentObjects } from "./component-objects.ts";

/** Returns the settings for the current state of the cluster. */
export function settingsIn({ caches: { clusterSettings, nodes }, settings }: OperatorContext): ComponentSettings {
  return {
    ...settings.components,
    tls: clusterSettings.tls() ?? settings.components.tls,
    isControlPlaneExternal: clusterSettings.isControlPlaneExternal() ?? isControlPlaneExternal(nodes.list()),
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
