// SPDX-License-Identifier: Apache-2.0
/**
 * openAfxdp connects the pass for AF_XDP devices to the API server and the kernel. The daemon runs it in the same worker as the
 * pass for SR-IOV. It does nothing in a cluster without the kinds for AF_XDP.
 */
import {
  afxdpNetworkNodeStates,
  afxdpOperatorConfigs,
  daemonManager as manager,
  operatorConfigName,
  type AfxdpNetworkNodeState,
  type AfxdpOperatorConfig,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import type { Host, KernelEvent } from "@switchyard/host";
import { createEventRecorder, createWriter, fromCache, type Cache, type Requeue, type Source } from "@switchyard/kube";
import { afxdpProviderOf } from "@switchyard/policy";
import { isDeepStrictEqual } from "node:util";
import { createWithDeadline, type DeadlineDeps } from "../deadlines/with-deadline.ts";
import type { KernelFeed } from "../observe/kernel-feed.ts";
import { createKernelSource, ovsSource } from "../observe/kernel-source.ts";
import type { Phase } from "../report/phase.ts";
import { createApiServerAddresses } from "../start/api-server.ts";
import type { KeepAfxdpBoot } from "../systemd/afxdp-boot.ts";
import {
  commonSettings,
  watchDesiredState,
  withoutServerFields,
  type WatchDesiredStateOptions,
} from "../watch-desired-state.ts";
import { createOrphanedPrograms, settlingMs } from "./orphaned-programs/orphaned-programs.ts";
import type { ReadKubeletDevices } from "../kubelet/kubelet.ts";
import {
  createOrphanedProgramsPass,
  ownPluginMessages,
  type OrphanedProgramsPass,
} from "./orphaned-programs/orphaned-programs-pass.ts";
import { createAfxdpPass, type AfxdpPass } from "./pass/afxdp-pass.ts";
import { createDrainDemand, type DrainDemand } from "../pass/drain-demand.ts";
import { createPluginLeftoversPass } from "./plugin-leftovers/plugin-leftovers-pass.ts";
import { wantedFromPlugins } from "./plugin-leftovers/wanted-from-plugins.ts";
import { createAfxdpReports, type ReportAfxdp } from "./report/afxdp-reports.ts";

/** afxdpKinds are the kinds for AF_XDP that the daemon watches, and what it caches of them. */
const afxdpKinds = {
  states: { type: afxdpNetworkNodeStates, project: withoutServerFields<AfxdpNetworkNodeState> },
  configs: {
    type: afxdpOperatorConfigs,
    project: (config: AfxdpOperatorConfig) => ({ ...commonSettings(config), provider: afxdpProviderOf(config) }),
  },
};

export interface OpenAfxdpOptions extends WatchDesiredStateOptions, DeadlineDeps {
  readonly host: Host;
  /** Devices that are configured in parallel. */
  readonly maxPfs: number;
  readonly sriovStates: Cache<SriovNetworkNodeState>;
  /** Keeps the configuration of the next boot; only in systemd mode. */
  readonly keepBoot?: KeepAfxdpBoot | undefined;
  /** Asks the kubelet for the devices of pods. Without it, XDP programs that device plugins have left stay. */
  readonly readKubelet?: ReadKubeletDevices | undefined;
  /** Called with each reason why programs stay, if the node has no AfxdpNetworkNodeState whose status could have it. */
  readonly onProgramsLeft: (message: string) => void;
  /** Starts a pass for SR-IOV, which requests drains. */
  readonly wakeSriov: () => void;
  /** Events of the kernel, by the watch that the passes for SR-IOV use, too. */
  readonly feed: KernelFeed;
  /** Ends a pass after the steps that are running. */
  readonly signal: AbortSignal;
}

export interface Afxdp extends AsyncDisposable {
  /** Key of the pass. No node has this name. */
  readonly key: string;
  readonly pass: AfxdpPass;
  readonly demand: DrainDemand;
  readonly sources: readonly Source[];
  readonly configs: Watched["configs"];
  readonly caches: readonly (Watched["states"] | Watched["configs"])[];
}

const watchAfxdp = (options: WatchDesiredStateOptions) => watchDesiredState(options, afxdpKinds);

type Watched = ReturnType<typeof watchAfxdp>;

const key = "/afxdp";

/** Disposing of the result sends the remaining events. */
export function openAfxdp(options: OpenAfxdpOptions): Afxdp {
  const { transport, host, namespace, nodeName, sriovStates, log, now } = options;
  const resources = new AsyncDisposableStack();
  const { states, configs } = resources.use(watchAfxdp(options));
  const events = resources.use(
    createEventRecorder({
      transport,
      controller: manager,
      instance: nodeName,
      report(error) {
        log.warn({ error }, "event could not be sent");
      },
    }),
  );
  const writer = createWriter<AfxdpNetworkNodeState>({
    transport,
    namespace,
    manager,
    cache: states,
    type: afxdpNetworkNodeStates,
  });
  const left = openOrphanedPrograms(options, { states, configs });
  const writeReport = createAfxdpReports({
    writer,
    now,
    recordEvent(regarding, { message, ...event }) {
      events.record({ regarding, ...event, note: message, action: "Configure" });
    },
  });
  const report: ReportAfxdp = (state, phase, found) => {
    const problems = left.flatMap((each) => each.problems());
    return writeReport(state, withProblems(phase, problems), found);
  };
  const kernel = createKernelSource(options.feed, key, {
    concerns: (event) => concernsDevices(event, states.get(nodeName)),
  });
  const demand = createDrainDemand(options.wakeSriov);
  const pass = createAfxdpPass({
    host,
    transport,
    demand,
    report,
    log,
    now,
    timing: options.timing,
    signal: options.signal,
    maxPfs: options.maxPfs,
    keepBoot: options.keepBoot,
    apiServerAddresses: createApiServerAddresses(() => transport.serverHost),
    onObserve: kernel.observing,
    readKubelet: options.readKubelet,
    state: () => states.get(nodeName),
    sriovState: () => sriovStates.get(nodeName),
    isDrainDisabled: () => configs.get(operatorConfigName)?.disableDrain === true,
  });
  return {
    key,
    demand,
    configs,
    caches: [states, configs],
    pass: (signal) =>
      kernel.during(async () => {
        let again: Requeue | undefined;
        for (const each of left) again = earlier(again, await each.run(signal)); // before the report of the pass
        return earlier(again, await pass(signal));
      }),
    sources: [
      fromCache(states, ({ before, after }) => {
        const isShown = after === undefined || writer.showsStatus(after);
        return isShown && isDeepStrictEqual(inputOf(before), inputOf(after)) ? [] : [key];
      }),
      fromCache(configs, ({ before, after }) => {
        const isSame = before?.disableDrain === after?.disableDrain && before?.provider === after?.provider;
        return isSame && (before === undefined) === (after === undefined) ? [] : [key];
      }),
      onceAtStart,
      fromCache(sriovStates, ({ before, after }) =>
        isDeepStrictEqual(sriovInputOf(before), sriovInputOf(after)) ? [] : [key],
      ),
      kernel,
      ovsSource(host.ovs, key, () => namesBridge(states.get(nodeName))),
    ],
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** AF_XDP may have been removed while the daemon did not run: then no object causes a pass. */
const onceAtStart: Source = {
  start(enqueue) {
    enqueue(key);
    return () => undefined;
  },
  whenSynced: () => Promise.resolve(),
};

/** Returns the passes for what afxdp-device-plugin and the plugins of upstream have left. */
function openOrphanedPrograms(
  options: OpenAfxdpOptions,
  { states, configs }: Pick<Watched, "states" | "configs">,
): readonly OrphanedProgramsPass[] {
  const { host, nodeName, log, readKubelet, onProgramsLeft } = options;
  if (readKubelet === undefined) return [];
  const provider = () => configs.get(operatorConfigName)?.provider;
  /** Without the kinds, it is not known what is wanted. */
  const isKnown = () => configs.served && states.served;
  const deps = { readKubelet, nowMs: () => options.timing.nowMs() };
  const common = {
    log,
    withDeadline: createWithDeadline(host, options),
    onProblem(message: string) {
      if (states.get(nodeName) === undefined) onProgramsLeft(message);
    },
  };
  return [
    createOrphanedProgramsPass({
      ...common,
      left: createOrphanedPrograms(deps),
      messages: ownPluginMessages,
      retryMs: settlingMs,
      // A node that the AfxdpOperatorConfig does not select has no state.
      isPluginWanted: () => !isKnown() || (provider() === "switchyard" && states.get(nodeName) !== undefined),
    }),
    createPluginLeftoversPass({
      ...common,
      ...deps,
      wanted: () => (isKnown() ? wantedFromPlugins(provider(), states.get(nodeName)) : undefined),
    }),
  ];
}

/** In phases that have problems. The others are followed by one that has. */
function withProblems(phase: Phase, more: ReturnType<OrphanedProgramsPass["problems"]>): Phase {
  if (more.length === 0 || (phase.kind !== "settled" && phase.kind !== "failed")) return phase;
  return { ...phase, problems: [...phase.problems, ...more] };
}

function earlier(first: Requeue | undefined, second: Requeue | undefined): Requeue | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return first.afterMs < second.afterMs ? first : second;
}

/** Containers create and remove virtual interfaces by the hundred; only those that the status shows matter. */
function concernsDevices(event: KernelEvent, state: AfxdpNetworkNodeState | undefined): boolean {
  if (state === undefined) return false;
  if (event.kind !== "link" || event.parent !== undefined) return event.kind !== "rdma";
  return (state.status?.interfaces ?? []).some(({ name }) => name === event.name);
}

function namesBridge(state: AfxdpNetworkNodeState | undefined): boolean {
  return state?.spec?.interfaces?.some(({ bridge }) => bridge !== undefined) === true;
}

/** The parts of a state that a pass depends on. Daemon, device plugin and operator write the status. */
function inputOf(state: AfxdpNetworkNodeState | undefined): unknown {
  return state && { uid: state.metadata.uid, annotations: state.metadata.annotations, spec: state.spec };
}

/** What SR-IOV policies use, and the drain of the node. */
function sriovInputOf(state: SriovNetworkNodeState | undefined): unknown {
  return state && { spec: state.spec, annotations: state.metadata.annotations };
}
