// SPDX-License-Identifier: Apache-2.0
/**
 * guardTransport makes the transport of a leader, which sends writes only while the lease is valid.
 *
 * - A write after the deadline is rejected. The clock is read for each write, so it does not matter how long the process,
 * its event loop or its timers were blocked before. It is read again on the open connection right before the first
 * byte. A process that was frozen while it connected finds the connection open when it resumes, and would send before
 * any timer runs (seen with Node 24, which handles I/O before timers).
 * - A write that is in progress must end before another replica can take the lease. At the deadline the client aborts it
 * and closes its connection. The query parameter `timeout` makes the server abort it too. It counts from the arrival of
 * the request, so that a request of which only a part arrived before a freeze is not completed later. The server needs
 * some time for this: the deadline is `leaseDurationMs - renewDeadlineMs` before others may lead.
 *
 * No client can exclude that the network delivers a request even later, so reconcilers must be level-based. Reads and
 * watches are always allowed.
 */
import { KubeError } from "../http/kube-error.ts";
import type { Transport, TransportRequest } from "../http/transport.ts";

/**
 * Returns a transport that rejects writes with KubeError "NotLeading" when less than 1 ms remains. Disposing it does not
 * dispose `transport`.
 */
export function guardTransport(transport: Transport, remainingMs: () => number): Transport {
  return {
    namespace: transport.namespace,
    request: async (request) => transport.request(request.method === "GET" ? request : bounded(request)),
    watch: (request) => transport.watch(request),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };

  function bounded(request: TransportRequest): TransportRequest {
    const readRemainingMs = () => {
      const leftMs = Math.floor(remainingMs());
      if (leftMs >= 1) return leftMs;
      const words = "not sent: the lease may have expired";
      throw new KubeError(`${request.method} ${request.path}`, "NotLeading", { words });
    };
    const timeoutMs = Math.min(request.timeoutMs ?? Infinity, readRemainingMs());
    const beforeSend = () => void readRemainingMs();
    return { ...request, timeoutMs, query: { ...request.query, timeout: `${timeoutMs}ms` }, beforeSend };
  }
}
