// SPDX-License-Identifier: Apache-2.0
/** measureTransport counts and times the requests to the API server. */
import {
  isKubeError,
  type Transport,
  type TransportRequest,
  type WatchEvent,
  type WatchRequest,
} from "@switchyard/kube";
import { Counter, Histogram, type Registry } from "../metrics.ts";

/** Returns a transport that measures `transport`. Disposing it disposes `transport`. */
export function measureTransport(transport: Transport, registry: Registry): Transport {
  const registers = [registry];
  const requests = new Counter({
    name: "switchyard_api_requests_total",
    help: "Requests to the API server by HTTP method (or WATCH) and result: OK, or the reason of the error.",
    labelNames: ["verb", "code"],
    registers,
  });
  const seconds = new Histogram({
    name: "switchyard_api_request_seconds",
    help: "Duration of requests to the API server in seconds, without watches.",
    labelNames: ["verb"],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 30],
    registers,
  });

  async function request(wanted: TransportRequest): Promise<unknown> {
    const { method: verb } = wanted;
    const startedMs = performance.now();
    try {
      const answer = await transport.request(wanted);
      requests.inc({ verb, code: "OK" });
      return answer;
    } catch (error) {
      requests.inc({ verb, code: codeOf(error) });
      throw error;
    } finally {
      seconds.observe({ verb }, (performance.now() - startedMs) / 1000);
    }
  }

  /** A watch is counted when it ends. */
  async function* watch(wanted: WatchRequest): AsyncGenerator<WatchEvent> {
    let code = "OK";
    try {
      yield* transport.watch(wanted);
    } catch (error) {
      code = codeOf(error);
      throw error;
    } finally {
      requests.inc({ verb: "WATCH", code });
    }
  }

  return {
    namespace: transport.namespace,
    serverHost: transport.serverHost,
    serverPort: transport.serverPort,
    request,
    watch,
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  };
}

/** The label has few values: reasons of the API and codes of KubeError. */
function codeOf(error: unknown): string {
  return isKubeError(error) ? error.code : "Aborted";
}
