// SPDX-License-Identifier: Apache-2.0
/**
 * watchPublishedVfs finds the VFs that drivers of dynamic resource allocation publish for the node in ResourceSlices. Such a driver
 * gives them to pods by claims, of which the scheduler knows nothing when it counts the resources of a device plugin.
 *
 * Clusters before Kubernetes 1.34 have no slices. An operator of an older release does not grant the right to read them; nothing
 * is withheld then.
 */
import { resourceSlices } from "@switchyard/api";
import { isKubeError, listPages, watchObjects, type KubeObject, type Transport } from "@switchyard/kube";
import { readSlice, type DeviceSlice } from "@switchyard/policy";
import { type Logger } from "@switchyard/service";
import { createFailureLog } from "@switchyard/service/cluster";

/** Names of drivers by the PCI address of a device that they publish. */
export type PublishedVfs = ReadonlyMap<string, readonly string[]>;

export interface PublishedVfsWatch extends AsyncDisposable {
  /** Returns undefined until the slices are known. */
  read(): PublishedVfs | undefined;
  /** Asks the API server. Rejects with KubeError. */
  readExact(signal: AbortSignal): Promise<PublishedVfs>;
  /** Calls `listener` with each change, until the signal aborts. */
  subscribe(listener: () => void, signal: AbortSignal): void;
}

export interface PublishedVfsOptions {
  readonly transport: Transport;
  readonly nodeName: string;
  readonly log: Logger;
}

export function watchPublishedVfs({ transport, nodeName, log }: PublishedVfsOptions): PublishedVfsWatch {
  const fieldSelector = `spec.nodeName=${nodeName}`;
  let isRefused = false;
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  const failed = createFailureLog(log);
  const slices = watchObjects({
    transport,
    type: resourceSlices,
    fieldSelector,
    optional: true,
    project: (slice: KubeObject): DeviceSlice | null => readSlice(slice) ?? null,
    report(error, { resource, ageMs }) {
      const wasRefused = isRefused;
      isRefused = isKubeError(error, "Forbidden");
      if (!isRefused || !wasRefused) failed({ resource, ageMs, error }, "watch failed; retrying");
      if (isRefused && !wasRefused) tell();
    },
  });
  slices.subscribe(tell);
  const end = new AbortController();
  slices.whenSynced(end.signal).then(tell, () => undefined); // a node without slices causes no event
  return {
    read() {
      if (!slices.synced) return isRefused ? new Map() : undefined;
      return publishedIn(slices.list().flatMap((slice) => slice ?? []));
    },
    async readExact(signal) {
      const found: DeviceSlice[] = [];
      for await (const { items } of listPages(transport, { type: resourceSlices, fieldSelector, signal })) {
        found.push(...items.flatMap((slice) => readSlice(slice) ?? []));
      }
      return publishedIn(found);
    },
    subscribe(listener, signal) {
      listeners.add(listener);
      signal.addEventListener("abort", () => listeners.delete(listener), { once: true });
    },
    async [Symbol.asyncDispose]() {
      end.abort();
      await slices[Symbol.asyncDispose]();
    },
  };
}

function publishedIn(slices: readonly DeviceSlice[]): PublishedVfs {
  const drivers = new Map<string, readonly string[]>();
  for (const { driver, devices } of slices) {
    for (const address of devices.flatMap(({ addresses }) => addresses)) {
      drivers.set(address, [...new Set([...(drivers.get(address) ?? []), driver])].sort());
    }
  }
  return drivers;
}
