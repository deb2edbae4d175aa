// SPDX-License-Identifier: Apache-2.0
/** startControllers starts all controllers, which run while the replica leads. */
import { createEventRecorder, startController, type Transport } from "@switchyard/kube";
import type { Logger } from "@switchyard/service";
import type { ClusterCaches } from "./cluster-caches.ts";
import { startAfxdpControllers } from "./afxdp/afxdp-controllers.ts";
import { createAfxdpLiveRules } from "./facts/afxdp-live-rules.ts";
import { startWaitingClaimsController } from "./claims/waiting-claims-controller.ts";
import { startCertificateControllers } from "./certificates/certificate-controllers.ts";
import { startComponentControllers } from "./components/component-controllers.ts";
import { startDeviceClassController } from "./device-classes/device-class-controller.ts";
import { startDevicePluginControllers } from "./device-plugin/device-plugin-controllers.ts";
import { startDrainControllers } from "./drain/drain-controllers.ts";
import type { OperatorMetrics } from "./metrics/operator-metrics.ts";
import { startNetworkControllers } from "./networks/network-controller.ts";
import { createLiveRules } from "./facts/live-rules.ts";
import { createMergeResults } from "./results/merge-results.ts";
import { startNodeControllers } from "./node-states/node-controllers.ts";
import type { OperatorContext } from "./operator-context.ts";
import type { OperatorSettings } from "./start/operator-settings.ts";
import { createFailureReports } from "./reports/failure-reports.ts";
import type { RestoreReports } from "./reports/restore-reports.ts";

export interface ControllersOptions {
  /** Refuses requests once the lease is lost. */
  readonly transport: Transport;
  readonly settings: OperatorSettings;
  /** Name of this process in its events. */
  readonly instance: string;
  readonly caches: ClusterCaches;
  readonly log: Logger;
  /** The wall clock of the API server, in milliseconds since 1970. */
  readonly nowMs: () => number;
  readonly metrics: OperatorMetrics;
  /** Called once when no node state waits to be written. */
  readonly onNodeStatesWritten: () => void;
  readonly restores: RestoreReports;
  /** Aborted when the controllers must stop at once. */
  readonly signal: AbortSignal;
}

/** Disposing the result stops the controllers after the running reconciles. */
export function startControllers(options: ControllersOptions): AsyncDisposable {
  const { transport, settings, caches, log, nowMs, metrics, signal } = options;
  const now = () => new Date(nowMs());
  const { [Symbol.asyncDispose]: _, ...watched } = caches;
  const stack = new AsyncDisposableStack();
  const events = stack.use(
    createEventRecorder({
      transport,
      controller: "switchyard-operator",
      instance: options.instance,
      now,
      report(error) {
        log.warn({ error }, "event could not be sent; dropped");
      },
    }),
  );

  const failureReports = createFailureReports({
    transport,
    caches,
    events,
    now,
    namespace: settings.namespace,
  });

  const context: OperatorContext = {
    transport,
    settings,
    caches,
    events,
    log,
    nowMs,
    now,
    signal,
    rules: createLiveRules(
      { ...caches, staleDelayMs: settings.staleDelayMs, devMode: settings.components.devMode },
      signal,
    ),
    afxdpRules: createAfxdpLiveRules({ ...caches, staleDelayMs: settings.staleDelayMs }, signal),
    mergeResults: createMergeResults(),
    start({ about, reads, reconcile, ...controller }) {
      const { name } = controller;
      const started = startController({
        caches: Object.values(watched),
        ...controller,
        async reconcile(key, abort) {
          const requeue = await reconcile(key, abort);
          failureReports.succeeded({ controller: name, about, key });
          return requeue;
        },
        signal,
        freshness: {
          caches: reads,
          maxAgeMs: settings.maxCacheAgeMs,
          onStale(stale) {
            const resources = [...new Set(stale.map(({ resource }) => resource))];
            log.warn({ controller: name, resources }, "caches are stale; waiting for the API server");
          },
        },
        metrics: metrics.of(name),
        report(error, { key, failures, isKnown }) {
          log[isKnown ? "debug" : "warn"]({ controller: name, key, failures, error }, "reconcile failed; retrying");
          if (name !== failureReports.controller.name)
            failureReports.failed({ controller: name, about, key, failures }, error);
        },
      });
      metrics.watch(started);
      return stack.use(started);
    },
    showAges(ageing) {
      metrics.watchCaches(ageing);
    },
  };
  context.start(failureReports.controller);
  context.start(options.restores.controller(context));
  const nodeStates = startNodeControllers(context);
  void nodeStates.whenIdle().then(options.onNodeStatesWritten);
  startDrainControllers(context);
  startNetworkControllers(context);
  startAfxdpControllers(context);
  startComponentControllers(context);
  startDevicePluginControllers(context, nodeStates);
  startDeviceClassController(context);
  startWaitingClaimsController(context);
  startCertificateControllers(context);
  return stack;
}
