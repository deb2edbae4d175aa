// SPDX-License-Identifier: Apache-2.0
/**
 * deferTransport holds back the lists and watches that node states do not need until the node states are written. In a
 * large fleet that takes seconds, during which about thirty more lists and watches would delay it.
 */
import { systemClock, type Clock, type Transport } from "@switchyard/kube";

export interface DeferredTransport {
  /** Holds requests back until release(), until a deadline, or until the signal aborts. Disposing it does nothing. */
  readonly transport: Transport;
  readonly release: () => void;
}

/** The deadline: standby replicas never write node states, and the API server may refuse writes for any time. */
const maxDelayMs = 5_000;

/** The caller remains the owner of `transport`. */
export function deferTransport(
  transport: Transport,
  signal: AbortSignal,
  clock: Clock = systemClock,
): DeferredTransport {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const release = () => {
    resolve(undefined);
  };
  const cancel = clock.after(maxDelayMs, release);
  signal.addEventListener("abort", release, { once: true });
  if (signal.aborted) release();
  void promise.then(cancel);
  return {
    transport: {
      namespace: transport.namespace,
      async request(request) {
        await promise;
        return transport.request(request);
      },
      watch: (request) => transport.watch(request), // a watch follows a list, which was held back
      [Symbol.asyncDispose]: () => Promise.resolve(),
    },
    release,
  };
}
