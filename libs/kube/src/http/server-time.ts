// SPDX-License-Identifier: Apache-2.0
/**
 * createServerTime returns the wall clock of the API server, as the heads of its responses say it. The times of objects are by this
 * clock. The clock of a machine can be wrong until a time service sets it, years away after a battery failed, and then jumps.
 * Usage: `const time = createServerTime(); await time.follow(transport).request(request); time.nowMs();`
 */
import { bootClock, type Clock } from "../clock.ts";
import type { Transport } from "./transport.ts";

export interface ServerTime {
  /** Milliseconds since 1970; by the clock of this machine until the first response. It goes on without responses. */
  readonly nowMs: () => number;
  /** Returns a transport that reads the clock from all responses of `transport`. Disposing it disposes `transport`. */
  readonly follow: (transport: Transport) => Transport;
}

export interface ServerTimeOptions {
  /** Measures the time between responses; the time since boot by default. */
  readonly clock?: Pick<Clock, "nowMs">;
  /** The clock of this machine. */
  readonly wallMs?: () => number;
}

/** Responses have whole seconds, and arrive later: a response that seems older by less does not show that the clock was set back. */
const toleranceMs = 2_000;

export function createServerTime({ clock = bootClock, wallMs = Date.now }: ServerTimeOptions = {}): ServerTime {
  let offsetMs: number | undefined;

  function onServerTime(serverMs: number): void {
    // The clock shows at least this now, so the largest offset is nearest to the truth.
    const leastMs = serverMs - clock.nowMs();
    if (offsetMs === undefined || leastMs > offsetMs || offsetMs - leastMs > toleranceMs) offsetMs = leastMs;
  }

  return {
    nowMs: () => (offsetMs === undefined ? wallMs() : clock.nowMs() + offsetMs),
    follow: (transport) => ({
      namespace: transport.namespace,
      serverHost: transport.serverHost,
      serverPort: transport.serverPort,
      request: (request) =>
        transport.request({
          ...request,
          onServerTime(serverMs) {
            onServerTime(serverMs);
            request.onServerTime?.(serverMs);
          },
        }),
      watch: (request) => transport.watch(request),
      [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
    }),
  };
}
