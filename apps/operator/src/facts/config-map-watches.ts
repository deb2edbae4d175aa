// SPDX-License-Identifier: Apache-2.0
/** watchConfigMaps watches upstream's ConfigMap "device-plugin-config" if the operator has to write it. */
import { configMaps } from "@switchyard/api";
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

/** The fields of a core/v1 ConfigMap that are used. */
export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Upstream's name of the ConfigMap. */
export const configMapName = "device-plugin-config";

export interface ConfigMapWatch {
  /** For the writer of the ConfigMap; undefined without --write-configmap. */
  readonly written: Observations | undefined;
  /** Calls `listener` on each change. */
  subscribe(listener: () => void): () => void;
}

export type WatchedConfigMaps = ConfigMapWatch & JoinedWatches;

export interface WatchConfigMapsOptions {
  readonly transport: Transport;
  readonly namespace: string;
  /** Value of --write-configmap. */
  readonly isWanted: boolean;
  readonly report: (error: unknown, at: FailedWatch) => void;
}

export function watchConfigMaps({ isWanted, ...common }: WatchConfigMapsOptions): WatchedConfigMaps {
  const named = (name: string) => ({ ...common, type: configMaps, fieldSelector: `metadata.name=${name}` });
  const written = isWanted
    ? watchObjects({
        ...named(configMapName),
        // The data can have a megabyte and are not kept; the resourceVersion shows that another client changed them.
        project: ({ metadata: { resourceVersion = "" } }: ConfigMap) => ({ resourceVersion }),
        managers: [fieldManagers.devicePluginConfigMap],
      })
    : undefined;
  return Object.assign(joinWatches(written === undefined ? [] : [written]), { written });
}
