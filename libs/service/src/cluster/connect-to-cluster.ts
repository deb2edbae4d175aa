// SPDX-License-Identifier: Apache-2.0
/**
 * connectToCluster connects a service to the API server: requests are measured, refusals are shown by /readyz, and an outage
 * is a few lines of the log.
 * Usage: `await using cluster = await connectToCluster({ kubeconfig: flags.kubeconfig, log, metrics, scrapes });`
 */
import {
  connect,
  isKubeError,
  watchRefusals,
  type ConnectOptions,
  type Transport,
  type WatchEvent,
} from "@switchyard/kube";
import type { Logger } from "../logger.ts";
import type { Registry } from "../metrics.ts";
import { createScrapeReview } from "./review-scrape.ts";
import { measureTransport } from "./measure-transport.ts";
import type { ScrapeGate } from "../scrape-gate.ts";
import { createOutageLog, isOutage, type OutageLog } from "./outage-log.ts";
import { createRightsLog } from "./rights-log.ts";

export { createFailureLog } from "./failure-log.ts";

export interface ConnectToClusterOptions extends ConnectOptions {
  readonly log: Logger;
  readonly metrics: Registry;
  /** Of the service's context: from now on, the API server decides who may read the metrics. */
  readonly scrapes: Pick<ScrapeGate, "setReview">;
}

/** A connection. Disposing it closes it. */
export interface ClusterConnection extends AsyncDisposable {
  readonly transport: Transport;
  /** Returns one sentence if the API server has refused each request for some time; otherwise nothing. */
  readonly problems: () => readonly string[];
  /** The log, with few lines about an outage of the API server (outage-log.ts) and about missing rights (rights-log.ts). */
  readonly log: Logger;
}

/** Rejects with KubeError if the kubeconfig cannot be used. */
export async function connectToCluster({
  scrapes,
  log,
  metrics,
  ...options
}: ConnectToClusterOptions): Promise<ClusterConnection> {
  const rights = createRightsLog(log);
  const outage = createOutageLog(rights.log);
  const { transport, problems } = watchRefusals(await connect(options));
  const measured = measureTransport(noticeAnswers(transport, outage.answered), metrics);
  scrapes.setReview(createScrapeReview(measured));
  return {
    transport: measured,
    problems,
    log: outage.log,
    async [Symbol.asyncDispose]() {
      rights.flush();
      await measured[Symbol.asyncDispose]();
    },
  };
}

/** Returns a transport that calls `answered` for each answer of the API server. */
function noticeAnswers(transport: Transport, answered: OutageLog["answered"]): Transport {
  async function* watch(request: Parameters<Transport["watch"]>[0]): AsyncGenerator<WatchEvent> {
    const onOpen = (): void => {
      answered();
      request.onOpen?.();
    };
    yield* transport.watch({ ...request, onOpen });
  }
  return {
    namespace: transport.namespace,
    serverHost: transport.serverHost,
    serverPort: transport.serverPort,
    async request(request) {
      try {
        const answer = await transport.request(request);
        answered();
        return answer;
      } catch (error) {
        if (isKubeError(error) && error.status !== undefined && !isOutage(error)) answered();
        throw error;
      }
    },
    watch,
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  };
}
