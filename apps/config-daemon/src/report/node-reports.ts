// SPDX-License-Identifier: Apache-2.0
/**
 * openNodeReports connects the reporter to the API server: it writes the status of the NodeState and sends its events.
 */
import {
  daemonManager as manager,
  sriovNetworkNodeStates,
  upstreamDaemonManager,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import { createEventRecorder, createWriter, type Transport, type WriterOptions } from "@switchyard/kube";
import type { Logger } from "@switchyard/service";
import { createLinkLoss } from "./link-loss.ts";
import { createReporter, type RecordEvent, type Report } from "./reporter.ts";

export interface NodeReportsOptions {
  readonly transport: Transport;
  readonly namespace: string;
  readonly nodeName: string;
  /** Lets the writer skip writes that change nothing. */
  readonly states: NonNullable<WriterOptions["cache"]>;
  /** Starts another pass. */
  readonly wake: () => void;
  readonly log: Logger;
}

/** Disposing of it sends the remaining events. */
export interface NodeReports extends AsyncDisposable {
  readonly report: Report;
  readonly recordEvent: RecordEvent;
  /** Reports whether the NodeState has the last report. False if somebody has changed, removed or restored its status. */
  readonly isShown: (state: SriovNetworkNodeState) => boolean;
}

export function openNodeReports(options: NodeReportsOptions): NodeReports {
  const { transport, namespace, nodeName, states, wake, log } = options;
  const events = createEventRecorder({
    transport,
    controller: manager,
    instance: nodeName,
    report(error) {
      log.warn({ error }, "event could not be sent");
    },
  });
  const recordEvent: RecordEvent = (regarding, { message, ...event }) => {
    events.record({ regarding, ...event, note: message, action: "Configure" });
  };
  const writer = createWriter<SriovNetworkNodeState>({
    transport,
    namespace,
    manager,
    type: sriovNetworkNodeStates,
    cache: states,
    adopts: [upstreamDaemonManager],
  });
  const linkLoss = createLinkLoss({ wake });
  const report = createReporter({ writer, linkLoss, recordEvent, now: () => new Date() });
  return {
    report,
    recordEvent,
    isShown: (state) => writer.showsStatus(state),
    async [Symbol.asyncDispose]() {
      linkLoss[Symbol.dispose]();
      await events[Symbol.asyncDispose]();
    },
  };
}
