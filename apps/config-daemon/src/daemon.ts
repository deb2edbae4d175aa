// SPDX-License-Identifier: Apache-2.0
/**
 * The node's agent, without its process: follows the node's SriovNetworkNodeState and the kernel's events, and makes
 * passes (configure-node.ts) until it is stopped. Does nothing while nothing happens.
 * Usage: `await runDaemon({ transport, host, nodeName, namespace, log, signal, … });`
 */
import {
  daemonManager as manager,
  operatorConfigName,
  sriovNetworkNodeStates,
  sriovOperatorConfigs,
  upstreamDaemonManager,
  type SriovNetworkNodeState,
  type SriovOperatorConfig,
} from "@switchyard/api";
import type { Host } from "@switchyard/host";
import {
  createEventRecorder,
  createWriter,
  fromCache,
  startController,
  watchObjects,
  type FailedWatch,
  type Requeue,
  type Transport,
} from "@switchyard/kube";
import { describeStep } from "@switchyard/plan";
import { cacheProblems, showCacheAges, type Logger, type Registry } from "@switchyard/service";
import { isDeepStrictEqual } from "node:util";
import { setTimeout as delay } from "node:timers/promises";
import { configureNode } from "./configure-node.ts";
import { createDaemonMetrics } from "./daemon-metrics.ts";
import { nameDrainer, requestDrain } from "./drain-request.ts";
import { fromKernel } from "./kernel-source.ts";
import { pauseAfter } from "./pause-after.ts";
import { createReporter } from "./reporter.ts";
import type { StepTiming } from "./steps/step-context.ts";
import { removeUpstreamLeftovers } from "./upstream-leftovers.ts";
import { createVhostModules } from "./vhost-modules.ts";

export interface DaemonOptions {
  readonly transport: Transport;
  readonly host: Host;
  readonly nodeName: string;
  /** The operator's namespace. */
  readonly namespace: string;
  /** PFs worked on at once. */
  readonly maxPfs: number;
  /** Beyond this age of what it knows of its orders, the daemon is not ready. It goes on as they were. */
  readonly maxCacheAgeMs: number;
  /** Somebody else than the operator drains this node. */
  readonly useExternalDrainer?: boolean;
  readonly log: Logger;
  readonly metrics: Registry;
  /** Told SriovOperatorConfig.spec.logLevel, and each change of it. */
  readonly onVerbosity?: (verbosity: number | undefined) => void;
  /** Sets what makes the daemon not ready. */
  readonly setNotReady: (check: () => readonly string[]) => void;
  readonly signal: AbortSignal;
}

/** A step may wait minutes for a driver: the deadline is for what hangs for ever. */
const passDeadlineMs = 30 * 60_000;

const timing: StepTiming = {
  linkTimeoutMs: 10_000,
  udevTimeoutMs: 60_000,
  nowMs: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
};

/** Resolves when `signal` has aborted and the step in hand is done. */
export async function runDaemon(options: DaemonOptions): Promise<void> {
  const { transport, host, nodeName, namespace, log, signal } = options;
  await removeUpstreamLeftovers(host.files, log);
  const metrics = createDaemonMetrics(options.metrics, { nodeName, now: () => new Date() });
  const watching = {
    transport,
    namespace,
    report: (error: unknown, { resource, ageMs }: FailedWatch) => {
      log.warn({ resource, ageMs, error }, "watch failed; retrying");
    },
  };
  await using states = watchObjects({
    ...watching,
    type: sriovNetworkNodeStates,
    fieldSelector: `metadata.name=${nodeName}`,
    project: ({ metadata, ...state }: SriovNetworkNodeState) => {
      const { name, uid = "", generation = 0, annotations = {} } = metadata;
      return { ...state, metadata: { name, namespace, uid, generation, annotations } };
    },
    managers: [manager],
  });
  await using configs = watchObjects({
    ...watching,
    type: sriovOperatorConfigs,
    fieldSelector: `metadata.name=${operatorConfigName}`,
    project: ({ spec }: SriovOperatorConfig) => ({
      disableDrain: spec?.disableDrain === true,
      verbosity: spec?.logLevel,
    }),
  });
  configs.subscribe(({ after }) => options.onVerbosity?.(after?.verbosity));

  await using events = createEventRecorder({
    transport,
    controller: manager,
    instance: nodeName,
    report(error) {
      log.warn({ error }, "event lost");
    },
  });
  const report = createReporter({
    writer: createWriter<SriovNetworkNodeState>({
      ...watching,
      type: sriovNetworkNodeStates,
      manager,
      cache: states,
      adopts: [upstreamDaemonManager],
    }),
    tell: (regarding, { message, ...event }) => {
      events.record({ regarding, ...event, note: message, action: "Configure" });
    },
    now: () => new Date(),
  });

  const loadVhostModules = createVhostModules(host);
  let failures = 0;
  let hasRun = false;
  async function reconcile(_key: string, passSignal: AbortSignal): Promise<Requeue | undefined> {
    const state = states.get(nodeName);
    if (state === undefined) {
      log.info({ node: nodeName }, "waiting for the operator to create this node's SriovNetworkNodeState");
      return undefined;
    }
    const stop = AbortSignal.any([passSignal, signal]);
    await nameDrainer(options.useExternalDrainer === true, state, transport, stop);
    const result = await configureNode(
      state,
      {
        ...{ host, timing, loadVhostModules },
        maxPfs: options.maxPfs,
        isDrainDisabled: () => configs.get(operatorConfigName)?.disableDrain === true,
        requestDrain: (request) => requestDrain(request, state, transport, stop),
        report(phase, found) {
          metrics.reported(phase);
          return report(state, phase, found);
        },
        onPlan(next, { interfaces }) {
          metrics.planned(state.spec ?? {}, interfaces, next.steps);
        },
        onApplied: metrics.applied,
        onStep(step, failure) {
          metrics.stepEnded(step, failure !== undefined);
          if (failure === undefined) log.info({ step: describeStep(step) }, "step done");
          else log.warn({ step: describeStep(step), error: failure.message }, "step failed");
        },
      },
      stop,
    );
    hasRun = true;
    failures = result === "retry" ? failures + 1 : 0;
    return { afterMs: pauseAfter(result, failures) };
  }

  showCacheAges(options.metrics, () => [states, configs]);
  options.setNotReady(() => [
    ...cacheProblems([states, configs], options.maxCacheAgeMs),
    ...(hasRun ? [] : ["hardware not discovered"]),
  ]);
  await using _controller = startController({
    name: "node",
    reconcile,
    parallel: 1,
    deadlineMs: passDeadlineMs,
    debounceMs: 10,
    maxDebounceMs: 200,
    sources: [
      fromCache(states, ({ before, after }) => (isDeepStrictEqual(orders(before), orders(after)) ? [] : [nodeName])),
      fromCache(configs, ({ before, after }) => (before?.disableDrain === after?.disableDrain ? [] : [nodeName])),
      fromKernel(host.events, nodeName, (error) => {
        log.error({ error }, "the kernel's events ended; changes are seen by the slow re-check only");
      }),
    ],
    signal: AbortSignal.any([]),
    report(error) {
      log.warn({ error }, "pass failed, will be tried again");
    },
  });
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener(
      "abort",
      () => {
        resolve();
      },
      { once: true },
    );
  });
}

/** What of a state is an order to us; its status is our own writing. */
function orders(state: SriovNetworkNodeState | undefined): unknown {
  return state && { uid: state.metadata.uid, spec: state.spec, annotations: state.metadata.annotations };
}
