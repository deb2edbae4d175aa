// SPDX-License-Identifier: Apache-2.0
/**
 * reportWrites makes a transport that tells when a write has ended.
 * Usage: `const transport = reportWrites(connection, () => log.debug("written"));`
 */
import type { Transport } from "@switchyard/kube";

/** `onWrite` is called after each write, also a refused one. Disposing the transport does not dispose `transport`. */
export function reportWrites(transport: Transport, onWrite: () => void): Transport {
  return {
    namespace: transport.namespace,
    serverHost: transport.serverHost,
    async request(request) {
      try {
        return await transport.request(request);
      } finally {
        if (request.method !== "GET") onWrite();
      }
    },
    watch: (request) => transport.watch(request),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
