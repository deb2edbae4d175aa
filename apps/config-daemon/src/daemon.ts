// SPDX-License-Identifier: Apache-2.0
/**
 * runDaemon is the config daemon of one node without its process. It watches the SriovNetworkNodeState of the node and the
 * events of the kernel, and runs a pass (pass/configure-node.ts) for each change. It is idle as long as nothing changes.
 */
import { operatorConfigName, type SriovNetworkNodeState } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import { fromCache, startController, type Requeue, type Source, type Transport } from "@switchyard/kube";
import {
  cacheProblems,
  logAbsentKinds,
  showCacheAges,
  whenAborted,
  type Logger,
  type Registry,
} from "@switchyard/service";
import { drainedVfs, firmwarePolicyOf, type FirmwarePolicy } from "@switchyard/policy";
import { isDeepStrictEqual } from "node:util";
import { createWithDeadline, defaultTiming } from "./deadlines/with-deadline.ts";
import { createLockCondition } from "./lock/lock-condition.ts";
import { createConnectivityGuard, defaultConnectivityTimeoutMs } from "./guard/connectivity-guard.ts";
import { createKernelFeed } from "./observe/kernel-feed.ts";
import { createKernelSource, ovsSource } from "./observe/kernel-source.ts";
import { createFirmwareReader } from "./observe/firmware/firmware-reader.ts";
import { createMissingInterfaces } from "./observe/missing-interfaces.ts";
import { createObserver, type ObserverDeps } from "./observe/observer.ts";
import { readVfClaims } from "./observe/vf-claims.ts";
import { createVfHolders } from "./observe/vf-holders.ts";
import type { Kubelet } from "./kubelet/kubelet.ts";
import { openAfxdp } from "./afxdp/open-afxdp.ts";
import { followVerbosity, sriovKinds, watchDesiredState } from "./watch-desired-state.ts";
import { createUndo } from "./pass/apply-steps.ts";
import { createMainLoop } from "./pass/main-loop.ts";
import { createPass } from "./pass/pass.ts";
import { createRefusedChanges } from "./pass/refused-changes.ts";
import { createRunningSteps } from "./pass/running-steps.ts";
import { createVhostModules } from "./pass/vhost-modules.ts";
import { createWithheldVfs } from "./pass/withheld-vfs.ts";
import { createDaemonMetrics } from "./report/daemon-metrics.ts";
import { openNodeReports } from "./report/node-reports.ts";
import { createPendingEvent } from "./report/reporter.ts";
import { clearDriverOverrides } from "./start/clear-driver-overrides.ts";
import { createApiServerAddresses } from "./start/api-server.ts";
import { defaultMaxHanging } from "./start/resources.ts";
import { createUncleanVfs } from "./unclean-vfs/unclean-vfs.ts";
import { createUdevRules } from "./udev/keep-rules.ts";
import { keepAfxdpBoot } from "./systemd/afxdp-boot.ts";
import { createSystemdMode, type SystemdModeOptions } from "./systemd/plan-for-boot.ts";
import { startUpstreamCleanup } from "./cleanup/upstream-cleanup.ts";
import { readPlatform } from "./virtual/platform.ts";
import { createVirtualNics, defaultMetadataUrl } from "./virtual/virtual-nics.ts";

export interface DaemonOptions {
  readonly transport: Transport;
  readonly host: Host;
  readonly nodeName: string;
  /** Namespace of the operator. */
  readonly namespace: string;
  /** PFs that are configured in parallel. */
  readonly maxPfs: number;
  /** If a cache is older than this, the daemon is not ready. It continues with the cached objects. */
  readonly maxCacheAgeMs: number;
  /** Number of hanging steps at which no other PF is started; 8 by default. */
  readonly maxHanging?: number;
  /** Time after which a step counts as hanging and is reported; 2 minutes by default. */
  readonly stepDeadlineMs?: number;
  /** Time in which the network must work again after a change of a PF that carries traffic of the host; 30 s by default, 0 for any. */
  readonly connectivityTimeoutMs?: number;
  /** URL of the metadata service of a cloud without a path; the link-local address of all clouds by default. */
  readonly metadataUrl?: string;
  /** An external drainer, and not the operator, drains this node. */
  readonly useExternalDrainer?: boolean;
  /** Says which devices pods have. Without it, each VF counts as one of a pod, and XDP programs that the device plugin has left stay. */
  readonly kubelet?: Kubelet;
  /** Set if the node is configured while it boots, and not by the daemon. */
  readonly systemdMode?: Pick<SystemdModeOptions, "program" | "unitsFromMachineConfig" | "ovsdbAddress"> | undefined;
  readonly log: Logger;
  readonly metrics: Registry;
  /** Called after the first pass for SR-IOV that succeeded, or for AF_XDP in a cluster that does not use SR-IOV. */
  readonly onFirstPass?: () => void;
  /** Called with spec.logLevel of the operator config for which the daemon is deployed, and with each change of it. */
  readonly onVerbosity?: (verbosity: number | undefined) => void;
  /** Sets the check of /readyz. */
  readonly setNotReady: (check: () => readonly string[]) => void;
  /** Sets the check of /healthz. */
  readonly setNotAlive?: (check: () => readonly string[]) => void;
  readonly signal: AbortSignal;
}

/** A pass over 128 VFs has many steps. This deadline ends a pass that would never end. */
const passDeadlineMs = 30 * 60_000;

const now = (): Date => new Date();

/** Resolves when `signal` has aborted and the running steps have ended. */
export async function runDaemon(options: DaemonOptions): Promise<void> {
  const { transport, host, nodeName, namespace, log, signal } = options;
  const { stepDeadlineMs = defaultTiming.stepDeadlineMs } = options;
  const timing = { ...defaultTiming, stepDeadlineMs };
  const runningSteps = createRunningSteps({ nowMs: () => timing.nowMs(), now });
  const metrics = createDaemonMetrics(options.metrics, { nodeName, now, oldestMs: runningSteps.oldestMs });
  const loop = createMainLoop(timing);
  options.setNotAlive?.(() => loop.problems());
  const wakeUp = createWakeUp(nodeName);
  const cleanupEvent = createPendingEvent(wakeUp.wake);
  const programsEvent = createPendingEvent(wakeUp.wake);
  if (options.systemdMode === undefined) {
    const cleanup = startUpstreamCleanup({
      host,
      timing,
      runningSteps,
      log,
      signal,
      wake: wakeUp.wake,
      onFailure(message) {
        cleanupEvent.set({ type: "Warning", reason: "UpstreamFilesNotRemoved", message });
      },
    });
    await cleanup.firstAttempt;
    await clearDriverOverrides(host, { timing, now, log });
  }

  await using desired = watchDesiredState({ transport, namespace, nodeName, log }, sriovKinds);
  const { states, configs } = desired;
  const feed = createKernelFeed(host.events, {
    onEnd(error) {
      log.error({ error }, "kernel event stream ended; changes are found by periodic passes only");
    },
  });
  await using afxdp = openAfxdp({
    transport,
    host,
    namespace,
    nodeName,
    timing,
    now,
    log,
    signal,
    maxPfs: options.maxPfs,
    sriovStates: states,
    keepBoot: options.systemdMode && keepAfxdpBoot,
    readKubelet: options.kubelet?.readAfxdp,
    onProgramsLeft(message) {
      programsEvent.set({ type: "Warning", reason: "XdpProgramsNotDetached", message });
    },
    wakeSriov: wakeUp.wake,
    feed,
  });
  followVerbosity({ sriov: configs, afxdp: afxdp.configs }, (verbosity) => options.onVerbosity?.(verbosity));
  await using reports = openNodeReports({ transport, namespace, nodeName, states, wake: wakeUp.wake, log });
  const firmware = createFirmwareReader(host, {
    timing,
    wake: wakeUp.wake,
    policy: () => configs.get(operatorConfigName)?.firmware ?? firmwarePolicyOf(undefined),
  });
  const apiServerAddresses = createApiServerAddresses(() => transport.serverHost);
  const maxHanging = options.maxHanging ?? defaultMaxHanging;
  const guard = createConnectivityGuard(host, {
    timing,
    now,
    applySteps: createUndo({ host, timing, runningSteps, maxPfs: options.maxPfs, maxHanging }),
    timeoutMs: options.connectivityTimeoutMs ?? defaultConnectivityTimeoutMs,
    apiServer: async () => ({ addresses: await apiServerAddresses(), port: transport.serverPort }),
    warn(fields, message) {
      log.warn(fields, message);
    },
  });
  // A daemon that was killed may have left a node without network, on which nothing can be read from the API server.
  await guard.settle(signal).catch((error: unknown) => {
    log.warn({ error }, "a change of the network cannot be checked now; the next pass tries again");
  });
  const virtualNics = createVirtualNics(host, {
    timing,
    wake: wakeUp.wake,
    metadataUrl: options.metadataUrl ?? defaultMetadataUrl,
    readPlatform: () => readPlatform({ transport, nodeName, log }),
  });
  const kernel = createKernelSource(feed, nodeName);
  const isDraining = (): boolean => {
    const state = states.get(nodeName);
    return state !== undefined && drainedVfs(state) !== undefined;
  };
  const vfHolders =
    options.kubelet &&
    createVfHolders({
      readHolders: options.kubelet.readHolders,
      readClaims: (known) => readVfClaims(host.files, known),
      now,
      isUrgent: isDraining,
      signal,
    });
  const withheldVfs = options.kubelet && createWithheldVfs({ kubelet: options.kubelet, nowMs: () => timing.nowMs() });
  const pass = createPass({
    host,
    transport,
    timing,
    metrics,
    loop,
    runningSteps,
    firmware,
    log,
    signal,
    report: reports.report,
    ...createHostCalls(host, {
      timing,
      firmware,
      virtualNics,
      apiServerAddresses,
      onObserve: kernel.observing,
    }),
    ...(options.systemdMode && {
      beginPass: createSystemdMode(host, {
        ...options.systemdMode,
        maxPfs: options.maxPfs,
        apiServerAddresses,
        guard,
        timing,
        now,
        log,
      }),
    }),
    vfHolders,
    withheldVfs,
    missingInterfaces:
      options.kubelet &&
      createMissingInterfaces({
        readHolders: options.kubelet.readHolders,
        nowMs: () => timing.nowMs(),
        graceMs: timing.linkTimeoutMs,
      }),
    uncleanVfs: options.kubelet && createUncleanVfs({ kubelet: options.kubelet, nowMs: () => timing.nowMs() }),
    refusedChanges: createRefusedChanges({ nowMs: () => timing.nowMs() }),
    maxPfs: options.maxPfs,
    guard,
    maxHanging,
    useExternalDrainer: options.useExternalDrainer === true,
    lockCondition: createLockCondition({ transport, nodeName, namespace, now }),
    isDrainDisabled: () => configs.get(operatorConfigName)?.disableDrain === true,
    isDrainNeededElsewhere: afxdp.demand.isNeeded,
    withdrawals: afxdp.demand,
    onDrainRequest: afxdp.demand.requested,
    wake: wakeUp.wake,
  });

  let hasSucceeded = false;
  let { onFirstPass } = options;
  const reportFirstPass = (): void => {
    onFirstPass?.();
    onFirstPass = undefined;
  };
  /** Without a SriovOperatorConfig, there is no state, and AF_XDP may be all that the daemon is for. */
  const isForSriov = (): boolean => states.get(nodeName) !== undefined || configs.get(operatorConfigName) !== undefined;
  // One worker runs the passes of both kinds in turn, because they share PFs and the drain of the node.
  async function reconcile(key: string, passSignal: AbortSignal): Promise<Requeue | undefined> {
    if (key === afxdp.key) {
      const again = await afxdp.pass(passSignal);
      if (!isForSriov()) reportFirstPass();
      return again;
    }
    const state = states.get(nodeName);
    if (state === undefined) {
      if (states.served) {
        log.info({ node: nodeName }, "waiting for the operator to create this node's SriovNetworkNodeState");
      }
      loop.idle(undefined);
      return undefined;
    }
    if (state.isSpecOfUpstream) {
      const { generation } = state.metadata;
      log.info({ node: nodeName, generation }, "upstream's operator has written the spec; not acting on it");
      loop.idle(undefined);
      return undefined;
    }
    for (const pending of [cleanupEvent, programsEvent]) pending.recordOn(state, reports.recordEvent);
    const { afterMs, hasFailed } = await kernel.during(() => pass(state, passSignal));
    if (!hasFailed) {
      hasSucceeded = true;
      reportFirstPass();
    }
    return { afterMs };
  }

  const caches = [states, configs, ...afxdp.caches];
  void logAbsentKinds([states, configs], {
    log,
    signal,
    effect: "SR-IOV devices of the node are not configured",
  });
  showCacheAges(options.metrics, () => caches);
  options.setNotReady(() => [
    ...cacheProblems(caches, options.maxCacheAgeMs),
    ...(hasSucceeded || !isForSriov() ? [] : ["the hardware of the node has not been discovered yet"]),
  ]);
  await using _controller = startController({
    name: "node",
    reconcile,
    parallel: 1,
    deadlineMs: passDeadlineMs,
    debounceMs: 10,
    maxDebounceMs: 200,
    sources: [
      fromCache(states, ({ before, after }) => {
        const isShown = after === undefined || reports.isShown(after);
        return isShown && isDeepStrictEqual(inputOf(before), inputOf(after)) ? [] : [nodeName];
      }),
      fromCache(configs, ({ before, after }) =>
        isDeepStrictEqual(settingsOf(before), settingsOf(after)) ? [] : [nodeName],
      ),
      kernel,
      ovsSource(host.ovs, nodeName),
      wakeUp.source,
      ...(vfHolders === undefined ? [] : [vfHolders.source(nodeName)]),
      ...afxdp.sources,
    ],
    signal: AbortSignal.any([]),
    report(error) {
      log.warn({ error }, "pass failed; retrying");
    },
  });
  await whenAborted(signal);
}

/** The calls of the host that a pass makes beside its steps. Each has its own deadline. */
function createHostCalls(host: Host, given: Omit<ObserverDeps, "now">) {
  const deps = { ...given, now };
  return {
    observeHost: createObserver(host, deps),
    withRecordDeadline: createWithDeadline(host, deps),
    loadVhostModules: createVhostModules(host, deps),
    keepUdevRules: createUdevRules(host, deps),
  };
}

/** A source of the controller that starts a pass when `wake` is called. */
function createWakeUp(key: string): { readonly wake: () => void; readonly source: Source } {
  let enqueueKey = (): void => undefined;
  return {
    wake: () => {
      enqueueKey();
    },
    source: {
      start(enqueue) {
        enqueueKey = () => {
          enqueue(key);
        };
        return () => undefined;
      },
      whenSynced: () => Promise.resolve(),
    },
  };
}

/** The parts of the operator config that a pass depends on. */
function settingsOf(
  config: { readonly disableDrain: boolean; readonly firmware: FirmwarePolicy } | undefined,
): unknown {
  return config && { disableDrain: config.disableDrain, firmware: config.firmware };
}

/** The parts of a NodeState that a pass depends on. The status is that of the last report, or is written again (isShown). */
function inputOf(state: (SriovNetworkNodeState & { readonly isSpecOfUpstream: boolean }) | undefined): unknown {
  if (state === undefined) return undefined;
  const { metadata, spec, isSpecOfUpstream } = state;
  return { uid: metadata.uid, spec, annotations: metadata.annotations, isSpecOfUpstream };
}
