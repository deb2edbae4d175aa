// SPDX-License-Identifier: Apache-2.0
/**
 * The server's key pair where nobody else makes one: shared by all replicas through a Secret, and renewed by whichever
 * comes first.
 * Usage: `await using pair = manageKeyPair({ transport, secretName, names, onChange, … });`
 */
import {
  createCertificateKeeper,
  defaultTimings,
  openCertificateStore,
  type KeyPair,
  type KubeCertificateStoreOptions,
} from "@switchyard/certificates";
import { startController, type Source, fromCache } from "@switchyard/kube";

export interface ManagedKeyPairOptions extends KubeCertificateStoreOptions {
  /** DNS names and addresses that the API server calls us by. */
  readonly names: readonly string[];
  /** Told what to show, each time that it changes. */
  readonly onChange: (pair: KeyPair) => void;
  /** Ends the work at once. */
  readonly signal: AbortSignal;
}

/** Works until disposed; `first` resolves with the first pair. */
export function manageKeyPair(options: ManagedKeyPairOptions): AsyncDisposable & { readonly first: Promise<KeyPair> } {
  const { names, onChange, report, signal } = options;
  const first = Promise.withResolvers<KeyPair>();
  let shown: KeyPair | undefined;
  const store = openCertificateStore(options);
  const keep = createCertificateKeeper({
    ...{ store, names, timings: defaultTimings, nowMs: Date.now },
    onChange(pair) {
      if (pair.cert === shown?.cert) return;
      shown = pair;
      onChange(pair);
      first.resolve(pair);
    },
  });
  const key = "certificates";
  const start: Source = {
    start: (enqueue) => {
      enqueue(key);
      return () => undefined;
    },
    whenSynced: () => Promise.resolve(),
  };
  const controller = startController({
    name: key,
    reconcile: keep,
    sources: [start, ...store.caches.map((cache) => fromCache(cache, () => [key]))],
    signal,
    report,
  });
  return {
    first: first.promise,
    async [Symbol.asyncDispose]() {
      await controller[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}
