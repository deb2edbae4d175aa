// SPDX-License-Identifier: Apache-2.0
/**
 * The network cards that the cluster isUpToDate: the built-in list and the rows of the ConfigMap "supported-nic-ids".
 * Usage: `const nicList = watchNicList({ transport, namespace, report }); knownNics(nicList)`.
 */
import { parseNicRow, supportedNics, type SupportedNic } from "@switchyard/policy";
import {
  ObjectStore,
  watchObjects,
  type Cache,
  type FailedWatch,
  type KubeObject,
  type Transport,
} from "@switchyard/kube";

/** The cards, the cluster's own after the built-in ones, under the name of the ConfigMap. */
export type NicList = Cache<readonly SupportedNic[]>;

/** Upstream's name (sriov-operator.md J). */
const name = "supported-nic-ids";

/** The ConfigMap, the fields that are used. */
export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export interface WatchNicListOptions {
  readonly transport: Transport;
  readonly namespace: string;
  readonly report: (error: unknown, at: FailedWatch) => void;
}

export function watchNicList(options: WatchNicListOptions): NicList & AsyncDisposable {
  return watchObjects({ ...options, ...storeOptions, fieldSelector: `metadata.name=${name}` });
}

/** A list that is filled by hand. */
export function createNicListStore(namespace: string): ObjectStore<ConfigMap, readonly SupportedNic[]> {
  return new ObjectStore({ ...storeOptions, namespace });
}

/** The same array while the list is the same. */
export function knownNics(nicList: Pick<NicList, "get">): readonly SupportedNic[] {
  return nicList.get(name) ?? supportedNics;
}

const storeOptions = {
  type: { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true },
  project: ({ data = {} }: ConfigMap): readonly SupportedNic[] => [
    ...supportedNics,
    ...Object.values(data).flatMap((row) => parseNicRow(row) ?? []),
  ],
};
