// SPDX-License-Identifier: Apache-2.0
/**
 * openAfxdp connects the pass for AF_XDP devices to the API server and the kernel. The daemon runs it in the same worker as the
 * pass for SR-IOV. It does nothing in a cluster without the kinds for AF_XDP.
 * Usage: `await using afxdp = openAfxdp({ transport, host, … }); if (key === afxdp.key) return afxdp.pass(signal);`
 */
import {
  afxdpNetworkNodeStates,
  daemonManager as manager,
  operatorConfigName,
  type AfxdpNetworkNodeState,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import type { Host, KernelEvent } from "@switchyard/host";
import { createEventRecorder, createWriter, fromCache, type Cache, type Source } from "@switchyard/kube";
import { isDeepStrictEqual } from "node:util";
import type { DeadlineDeps } from "../deadlines/with-deadline.ts";
import { createKernelSource } from "../observe/kernel-source.ts";
import { createApiServerAddresses } from "../start/api-server-addresses.ts";
import type { KeepAfxdpBoot } from "../systemd/afxdp-boot.ts";
import type { WatchDesiredStateOptions } from "../watch-desired-state.ts";
import { createAfxdpPass, type AfxdpPass } from "./pass/afxdp-pass.ts";
import { createDrainDemand, type DrainDemand } from "./pass/drain-demand.ts";
import { createAfxdpReports } from "./report/afxdp-reports.ts";
import { watchAfxdp } from "./watch-afxdp.ts";

export interface OpenAfxdpOptions extends WatchDesiredStateOptions, DeadlineDeps {
  readonly host: Host;
  /** Devices that are configured in parallel. */
  readonly maxPfs: number;
  readonly sriovStates: Cache<SriovNetworkNodeState>;
  /** Keeps the configuration of the next boot; only in systemd mode. */
  readonly keepBoot?: KeepAfxdpBoot | undefined;
  /** Starts a pass for SR-IOV, which requests drains. */
  readonly wakeSriov: () => void;
  /** Called if the kernel ends the stream of events. */
  readonly onEventsEnd: (error: unknown) => void;
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

type Watched = ReturnType<typeof watchAfxdp>;

const key = "/afxdp";

/** Disposing of the result sends the remaining events. */
export function openAfxdp(options: OpenAfxdpOptions): Afxdp {
  const { transport, host, namespace, nodeName, sriovStates, log, now } = options;
  const resources = new AsyncDisposableStack();
  const { states, configs } = resources.use(watchAfxdp(options));
  const events = resources.use(
    createEventRecorder({
      ...{ transport, controller: manager, instance: nodeName },
      report(error) {
        log.warn({ error }, "event could not be sent");
      },
    }),
  );
  const writer = createWriter<AfxdpNetworkNodeState>({
    ...{ transport, namespace, manager, cache: states },
    type: afxdpNetworkNodeStates,
  });
  const report = createAfxdpReports({
    ...{ writer, now },
    recordEvent(regarding, { message, ...event }) {
      events.record({ regarding, ...event, note: message, action: "Configure" });
    },
  });
  const kernel = createKernelSource(host.events, key, {
    onEnd: options.onEventsEnd,
    concerns: (event) => concernsDevices(event, states.get(nodeName)),
  });
  const demand = createDrainDemand(options.wakeSriov);
  const pass = createAfxdpPass({
    ...{
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
    },
    apiServerAddresses: createApiServerAddresses(transport.serverHost),
    onObserve: kernel.observing,
    state: () => states.get(nodeName),
    sriovState: () => sriovStates.get(nodeName),
    isDrainDisabled: () => configs.get(operatorConfigName)?.disableDrain === true,
  });
  return {
    ...{ key, demand, configs, caches: [states, configs] },
    pass: (signal) => kernel.during(() => pass(signal)),
    sources: [
      fromCache(states, ({ before, after }) => (isDeepStrictEqual(inputOf(before), inputOf(after)) ? [] : [key])),
      fromCache(configs, ({ before, after }) => (before?.disableDrain === after?.disableDrain ? [] : [key])),
      fromCache(sriovStates, ({ before, after }) =>
        isDeepStrictEqual(sriovInputOf(before), sriovInputOf(after)) ? [] : [key],
      ),
      kernel,
    ],
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Containers create and remove virtual interfaces by the hundred; only those that the status shows matter. */
function concernsDevices(event: KernelEvent, state: AfxdpNetworkNodeState | undefined): boolean {
  if (state === undefined) return false;
  if (event.kind !== "link" || event.parent !== undefined) return event.kind !== "rdma";
  return (state.status?.interfaces ?? []).some(({ name }) => name === event.name);
}

/** The parts of a state that a pass depends on. Daemon, device plugin and operator write the status. */
function inputOf(state: AfxdpNetworkNodeState | undefined): unknown {
  return state && { uid: state.metadata.uid, annotations: state.metadata.annotations, spec: state.spec };
}

/** What SR-IOV policies use, and the drain of the node. */
function sriovInputOf(state: SriovNetworkNodeState | undefined): unknown {
  return state && { spec: state.spec, annotations: state.metadata.annotations };
}
