// SPDX-License-Identifier: Apache-2.0
/**
 * servePoolsOfNode watches the AfxdpNetworkNodeState of the node and keeps the pools up to date. It is idle as long as nothing changes.
 */
import { afxdpNetworkNodeStates, afxdpPluginManager as manager, type AfxdpNetworkNodeState } from "@switchyard/api";
import { createWriter, startController, watchObjects, type FailedWatch, type Transport } from "@switchyard/kube";
import { watchLinks } from "@switchyard/netlink";
import { cacheProblems, showCacheAges, whenAborted, type Logger, type Registry } from "@switchyard/service";
import { createFailureLog } from "@switchyard/service/cluster";
import { createPoolsReconciler } from "./pools-reconciler.ts";
import type { PoolServer } from "./serve-pools.ts";

export interface ServePoolsOptions {
  readonly transport: Transport;
  readonly nodeName: string;
  /** Namespace of the operator. */
  readonly namespace: string;
  readonly server: PoolServer;
  /** If the cache is older than this, in ms, the process is not ready. It continues with the cached object. */
  readonly maxCacheAge: number;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly setNotReady: (check: () => readonly string[]) => void;
  readonly signal: AbortSignal;
}

/** Resolves when `signal` has aborted. */
export async function servePoolsOfNode(options: ServePoolsOptions): Promise<void> {
  const { transport, namespace, nodeName, server, log, signal } = options;
  const failed = createFailureLog(log);
  await using states = watchObjects({
    transport,
    namespace,
    type: afxdpNetworkNodeStates,
    fieldSelector: `metadata.name=${nodeName}`,
    project: ({ metadata, spec, status, ...kind }: AfxdpNetworkNodeState) => {
      const { name, namespace, uid, generation } = metadata;
      return { ...kind, metadata: { name, namespace, uid, generation }, spec, status } as AfxdpNetworkNodeState;
    },
    managers: [manager],
    report(error: unknown, { resource, ageMs }: FailedWatch) {
      failed({ resource, ageMs, error }, "watch failed; retrying");
    },
  });
  showCacheAges(options.metrics, () => [states]);
  options.setNotReady(() => cacheProblems([states], options.maxCacheAge));
  const controller = startController({
    name: "afxdp-device-plugin",
    reconcile: createPoolsReconciler({
      server,
      state: () => states.get(nodeName),
      writer: createWriter<AfxdpNetworkNodeState>({
        transport,
        namespace,
        manager,
        type: afxdpNetworkNodeStates,
        cache: states,
      }),
      log,
    }),
    parallel: 1,
    sources: [
      {
        start(enqueue) {
          const stop = new AbortController();
          const again = (): void => {
            enqueue(nodeName);
          };
          again();
          const ends = [states.subscribe(again), server.subscribe(again)];
          const failed = (error: unknown): void => {
            log.warn({ error }, "changes of network interfaces are not seen");
          };
          watchLinks({ event: again, lost: again, failed }, stop.signal);
          return () => {
            stop.abort();
            for (const end of ends) end();
          };
        },
        whenSynced: (until) => states.whenSynced(until),
      },
    ],
    signal: AbortSignal.any([]),
    backoff: { baseMs: 200, maxMs: 10_000 },
    report(error, { isKnown }) {
      log[isKnown ? "debug" : "warn"]({ error }, "pools not updated; retrying");
    },
  });
  await whenAborted(signal);
  await controller[Symbol.asyncDispose]();
}
