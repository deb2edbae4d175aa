// SPDX-License-Identifier: Apache-2.0
/**
 * What upstream's ConfigMap needs beside policies and nodes: itself, and the list of network cards that a cluster adds.
 * Nothing is watched where it is not asked for.
 * Usage: `await using configMaps = watchConfigMaps({ transport, namespace, isWanted, report });`
 */
import { parseNicRow, supportedNics, type SupportedNic } from "@switchyard/admission";
import {
  joinWatches,
  watchObjects,
  type JoinedWatches,
  type KubeObject,
  type Observations,
  type Transport,
} from "@switchyard/kube";
import type { NicModel } from "@switchyard/render";
import { managers } from "../managers.ts";

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

/** Upstream's names. */
export const configMapName = "device-plugin-config";
const nicListName = "supported-nic-ids";

/** What a cluster has of them. */
export interface ConfigMapFacts {
  /** For the ConfigMap's writer; undefined where none is asked for. */
  readonly written: Observations | undefined;
  /** All cards that are known, the cluster's own after ours; the same array while they are the same. */
  nics(): readonly NicModel[];
  /** Calls `listener` on each change. */
  subscribe(listener: () => void): () => void;
}

export type WatchedConfigMaps = ConfigMapFacts & JoinedWatches;

export interface WatchConfigMapsOptions {
  readonly transport: Transport;
  readonly namespace: string;
  /** --write-configmap */
  readonly isWanted: boolean;
  readonly report: (error: unknown) => void;
}

export function watchConfigMaps({ isWanted, ...common }: WatchConfigMapsOptions): WatchedConfigMaps {
  const named = (name: string) => ({ ...common, type: configMaps, fieldSelector: `metadata.name=${name}` });
  const written = isWanted
    ? watchObjects({
        ...named(configMapName),
        // A megabyte is not kept; that somebody has edited it shows.
        project: ({ metadata: { resourceVersion = "" } }: ConfigMap) => ({ resourceVersion }),
        managers: [managers.devicePluginConfigMap],
      })
    : undefined;
  const nicList = isWanted
    ? watchObjects({
        ...named(nicListName),
        project: ({ data = {} }: ConfigMap): readonly NicModel[] => {
          const rows = Object.values(data).flatMap((row) => parseNicRow(row) ?? []);
          return [...ownNics, ...rows.map(toNicModel)];
        },
      })
    : undefined;
  const watches = [written, nicList].filter((watch) => watch !== undefined);

  return Object.assign(joinWatches(watches), {
    written,
    nics: () => nicList?.get(nicListName) ?? ownNics,
  });
}

const ownNics = supportedNics.map(toNicModel);

function toNicModel({ vendor, pf, vf }: SupportedNic): NicModel {
  return { vendor, pfDevice: pf, vfDevice: vf };
}
