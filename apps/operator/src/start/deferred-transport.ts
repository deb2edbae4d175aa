// SPDX-License-Identifier: Apache-2.0
/**
 * Node states first: at a start the API server is asked for what they are made of, and for all else once they are
 * written. Of a fleet that takes seconds, in which thirty more lists and watches would be in their way.
 * Usage: `const first = deferTransport(transport, signal); watchNetworks({ transport: first.later, … }); first.done();`
 */
import { systemClock, type Clock, type Transport } from "@switchyard/kube";

export interface DeferredTransport {
  /** Holds requests back until `done`, until they have waited for long enough, or until the signal aborts. */
  readonly later: Transport;
  readonly done: () => void;
}

/** Replicas that stand by never write any; and a server may refuse what is written, for as long as it likes. */
const longestMs = 5_000;

/** Disposing of `later` does nothing: the transport is whose it was. */
export function deferTransport(
  transport: Transport,
  signal: AbortSignal,
  clock: Clock = systemClock,
): DeferredTransport {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const done = () => {
    resolve(undefined);
  };
  const cancel = clock.after(longestMs, done);
  signal.addEventListener("abort", done, { once: true });
  if (signal.aborted) done();
  void promise.then(cancel);
  return {
    later: {
      namespace: transport.namespace,
      async request(request) {
        await promise;
        return transport.request(request);
      },
      watch: (request) => transport.watch(request), // comes after a list
      [Symbol.asyncDispose]: () => Promise.resolve(),
    },
    done,
  };
}
