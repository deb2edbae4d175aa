// SPDX-License-Identifier: Apache-2.0
/**
 * The server's key pair where nobody else makes one: shared by all replicas through a Secret, and renewed by whichever
 * comes first.
 * Usage: `await using pair = manageKeyPair({ transport, places, names, onChange, … });`
 */
import {
  createCertificateKeeper,
  createCertificateStore,
  defaultTimings,
  watchCertificates,
  type KeyPair,
  type WatchCertificatesOptions,
} from "@switchyard/certificates";
import { startController } from "@switchyard/kube";

export interface ManagedKeyPairOptions extends WatchCertificatesOptions {
  /** DNS names and addresses that the API server calls us by. */
  readonly names: readonly string[];
  /** Told what to show, each time that it changes. */
  readonly onChange: (pair: KeyPair) => void;
  /** Ends the work at once. */
  readonly signal: AbortSignal;
}

/** Works until disposed; `first` resolves with the first pair. */
export function manageKeyPair(options: ManagedKeyPairOptions): AsyncDisposable & { readonly first: Promise<KeyPair> } {
  const { transport, names, onChange, report, signal } = options;
  const first = Promise.withResolvers<KeyPair>();
  let shown: KeyPair | undefined;
  const watches = watchCertificates(options);
  const keep = createCertificateKeeper({
    store: createCertificateStore({ transport, watches }),
    ...{ names, timings: defaultTimings, nowMs: Date.now },
    onChange(pair) {
      if (pair.cert === shown?.cert) return;
      shown = pair;
      onChange(pair);
      first.resolve(pair);
    },
  });
  const key = "certificates";
  const controller = startController({
    name: key,
    reconcile: keep,
    sources: [
      {
        start(enqueue) {
          enqueue(key); // there may be nothing yet
          return watches.subscribe(() => {
            enqueue(key);
          });
        },
        whenSynced: (abort) => watches.whenSynced(abort),
      },
    ],
    signal,
    report,
  });
  return {
    first: first.promise,
    async [Symbol.asyncDispose]() {
      await controller[Symbol.asyncDispose]();
      await watches[Symbol.asyncDispose]();
    },
  };
}
