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
import { cacheProblems, showCacheAges, type Logger, type Registry } from "@switchyard/service";
import { isDeepStrictEqual } from "node:util";
import { setTimeout as delay } from "node:timers/promises";
import { createDaemonMetrics } from "./report/daemon-metrics.ts";
import { fromKernel } from "./observe/kernel-source.ts";
import { createLockCondition } from "./lock/lock-condition.ts";
import { createLook } from "./observe/observer.ts";
import { createMainLoop } from "./pass/main-loop.ts";
import { createPass } from "./pass/pass.ts";
import { createPatience } from "./deadlines/with-deadline.ts";
import { createReporter } from "./report/reporter.ts";
import { createStepsInHand } from "./pass/running-steps.ts";
import { defaultMaxHanging } from "./start/thread-pool.ts";
import type { StepTiming } from "./steps/step-context.ts";
import { removeUpstreamLeftovers } from "./upstream/upstream-leftovers.ts";
import { createVhostModules } from "./pass/vhost-modules.ts";

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
  /** Steps that may hang in the kernel before no other PF is begun; 8 unless given. */
  readonly maxHanging?: number;
  /** How long a step may take before it is left behind and reported; 2 minutes unless given. */
  readonly stepDeadlineMs?: number;
  /** Somebody else than the operator drains this node. */
  readonly useExternalDrainer?: boolean;
  readonly log: Logger;
  readonly metrics: Registry;
  /** Told SriovOperatorConfig.spec.logLevel, and each change of it. */
  readonly onVerbosity?: (verbosity: number | undefined) => void;
  /** Sets what makes the daemon not ready. */
  readonly setNotReady: (check: () => readonly string[]) => void;
  /** Sets what makes the process one that has to be started again. */
  readonly setNotAlive?: (check: () => readonly string[]) => void;
  readonly signal: AbortSignal;
}

/** 128 VFs take many steps: the deadline is for what goes on for ever. */
const passDeadlineMs = 30 * 60_000;

const timing: StepTiming = {
  stepDeadlineMs: 2 * 60_000,
  linkTimeoutMs: 10_000,
  udevTimeoutMs: 60_000,
  nowMs: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
};

/** Resolves when `signal` has aborted and the step in hand is done. */
export async function runDaemon(options: DaemonOptions): Promise<void> {
  const { transport, host, nodeName, namespace, log, signal } = options;
  await removeUpstreamLeftovers(host.files, log);
  const inHand = createStepsInHand({ nowMs: () => timing.nowMs(), now: () => new Date() });
  const metrics = createDaemonMetrics(options.metrics, { nodeName, now: () => new Date(), oldestMs: inHand.oldestMs });
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

  const now = (): Date => new Date();
  const ownTiming = { ...timing, stepDeadlineMs: options.stepDeadlineMs ?? timing.stepDeadlineMs };
  const loop = createMainLoop(timing);
  options.setNotAlive?.(() => loop.problems());
  let wake = (): void => undefined;
  const pass = createPass({
    ...{ host, transport, report, metrics, loop, inHand, log, signal },
    timing: ownTiming,
    look: createLook(host, { timing: ownTiming, now }),
    record: createPatience(host, { timing: ownTiming, now }),
    loadVhostModules: createVhostModules(host, { timing: ownTiming, now }),
    maxPfs: options.maxPfs,
    maxHanging: options.maxHanging ?? defaultMaxHanging,
    useExternalDrainer: options.useExternalDrainer === true,
    lockCondition: createLockCondition({ transport, nodeName, namespace, now }),
    isDrainDisabled: () => configs.get(operatorConfigName)?.disableDrain === true,
    wake: () => {
      wake();
    },
  });

  let hasRun = false;
  async function reconcile(_key: string, passSignal: AbortSignal): Promise<Requeue | undefined> {
    const state = states.get(nodeName);
    if (state === undefined) {
      log.info({ node: nodeName }, "waiting for the operator to create this node's SriovNetworkNodeState");
      loop.rests(undefined);
      return undefined;
    }
    const { afterMs, hasFailed } = await pass(state, passSignal);
    hasRun ||= !hasFailed;
    return { afterMs };
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
      {
        start(enqueue) {
          wake = () => {
            enqueue(nodeName);
          };
          return () => undefined;
        },
        whenSynced: () => Promise.resolve(),
      },
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
