// SPDX-License-Identifier: Apache-2.0
/**
 * Upstream's ConfigMap as the cluster has it. It is not watched where it is not asked for.
 * Usage: `await using configMaps = watchConfigMaps({ transport, namespace, isWanted, report });`
 */
import {
  joinWatches,
  watchObjects,
  type FailedWatch,
  type JoinedWatches,
  type KubeObject,
  type Observations,
  type Transport,
} from "@switchyard/kube";
import { fieldManagers } from "../field-managers.ts";

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export const configMaps = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
} as const;

/** Upstream's name. */
export const configMapName = "device-plugin-config";

/** What a cluster has of them. */
export interface ConfigMapFacts {
  /** For the ConfigMap's writer; undefined where none is asked for. */
  readonly written: Observations | undefined;
  /** Calls `listener` on each change. */
  subscribe(listener: () => void): () => void;
}

export type WatchedConfigMaps = ConfigMapFacts & JoinedWatches;

export interface WatchConfigMapsOptions {
  readonly transport: Transport;
  readonly namespace: string;
  /** --write-configmap */
  readonly isWanted: boolean;
  readonly report: (error: unknown, at: FailedWatch) => void;
}

export function watchConfigMaps({ isWanted, ...common }: WatchConfigMapsOptions): WatchedConfigMaps {
  const named = (name: string) => ({ ...common, type: configMaps, fieldSelector: `metadata.name=${name}` });
  const written = isWanted
    ? watchObjects({
        ...named(configMapName),
        // A megabyte is not kept; that somebody has edited it shows.
        project: ({ metadata: { resourceVersion = "" } }: ConfigMap) => ({ resourceVersion }),
        managers: [fieldManagers.devicePluginConfigMap],
      })
    : undefined;
  return Object.assign(joinWatches(written === undefined ? [] : [written]), { written });
}
