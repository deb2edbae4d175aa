// SPDX-License-Identifier: Apache-2.0
/**
 * The transport of a leader: writes go out only while the lease holds.
 *
 * - A write that is tried too late is refused. The deadline is compared with the clock at that moment, so it makes no
 *   difference how long the process, its event loop or its timers stood still before. It is compared again on the open
 *   connection, right before the first byte: a process that froze while it connected finds the connection open when it
 *   thaws, and would send before any timer runs (seen with Node 24, whose timers come after I/O).
 * - A write that is under way must be over when the lease can be taken. It is given up at the deadline, which closes its
 *   connection, and the server is told to give it up as well (`timeout` counts there from the arrival, so half a request
 *   whose sender froze is not completed after the thaw). The server needs some time for that: the deadline lies before
 *   the moment from which others may lead, by `leaseDurationMs - renewDeadlineMs`.
 *
 * What no client can rule out is a network that delivers a request later than that; so reconcilers stay level-based.
 * Reads, watches among them, are nobody's harm and pass.
 *
 * Usage: `guardTransport(transport, () => validUntilMs - clock.nowMs())`.
 */
import { KubeError } from "../http/kube-error.ts";
import type { Transport, TransportRequest } from "../http/transport.ts";

/**
 * Refuses writes with KubeError "NotLeading" once `remainingMs()` is not positive. Disposing it does nothing: the
 * transport inside is its owner's.
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
      const words = "not sent: the lease may be another's by now";
      throw new KubeError(`${request.method} ${request.path}`, "NotLeading", { words });
    };
    const timeoutMs = Math.min(request.timeoutMs ?? Infinity, readRemainingMs());
    const beforeSend = () => void readRemainingMs();
    return { ...request, timeoutMs, query: { ...request.query, timeout: `${timeoutMs}ms` }, beforeSend };
  }
}
