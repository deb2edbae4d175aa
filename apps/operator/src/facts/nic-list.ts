// SPDX-License-Identifier: Apache-2.0
/** NicList contains the supported NICs: the built-in list and the rows of the ConfigMap "supported-nic-ids". */
import { configMaps } from "@switchyard/api";
import { parseNicRow, supportedNics, type SupportedNic } from "@switchyard/policy";
import { ObjectStore, watchObjects, type Cache, type FailedWatch, type Transport } from "@switchyard/kube";
import type { ConfigMap } from "./config-map-watches.ts";

/** The built-in NICs followed by those of the ConfigMap, under the name of the ConfigMap. */
export type NicList = Cache<readonly SupportedNic[]>;

/** Upstream's name (sriov-operator.md J). */
const name = "supported-nic-ids";

export interface WatchNicListOptions {
  readonly transport: Transport;
  readonly namespace: string;
  readonly report: (error: unknown, at: FailedWatch) => void;
}

export function watchNicList(options: WatchNicListOptions): NicList & AsyncDisposable {
  return watchObjects({ ...options, ...storeOptions, fieldSelector: `metadata.name=${name}` });
}

/** Returns a list without a watch, for tests. */
export function createNicListStore(namespace: string): ObjectStore<ConfigMap, readonly SupportedNic[]> {
  return new ObjectStore({ ...storeOptions, namespace });
}

/** Returns the same array while the list does not change. */
export function knownNics(nicList: Pick<NicList, "get">): readonly SupportedNic[] {
  return nicList.get(name) ?? supportedNics;
}

const storeOptions = {
  type: configMaps,
  project: ({ data = {} }: ConfigMap): readonly SupportedNic[] => [
    ...supportedNics,
    ...Object.values(data).flatMap((row) => parseNicRow(row) ?? []),
  ],
};
