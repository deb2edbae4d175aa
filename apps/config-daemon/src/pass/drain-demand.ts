// SPDX-License-Identifier: Apache-2.0
/**
 * createDrainDemand connects the two passes of a node: a node has one request. The pass for SR-IOV makes it or, on a node
 * without a SriovNetworkNodeState, the pass for AF_XDP (own-drain.ts).
 */
import {
  afxdpNetworkNodeStates,
  type AfxdpNetworkNodeState,
  type DrainRequest,
  type SriovNetworkNodeState,
} from "@switchyard/api";
import type { Transport } from "@switchyard/kube";
import {
  isDrainedFor,
  nextRequest,
  requestDrain,
  requestOf,
  requestOnState,
  withdrawRequest,
  type Handshake,
} from "./drain-request.ts";

export interface DrainDemand {
  /** Whether AF_XDP devices need a drain. */
  readonly isNeeded: () => boolean;
  /** Starts a pass for SR-IOV if the need changes. */
  readonly setNeeded: (isNeeded: boolean) => void;
  /** To be called before a request is written. */
  readonly requested: (request: DrainRequest) => void;
  /** Reports whether the node is drained, and the request was not withdrawn since: the cache may not show that yet. */
  readonly isDrained: (state: Handshake) => boolean;
}

export function createDrainDemand(wake: () => void): DrainDemand {
  let isNeeded = false;
  let isWithdrawn = false;
  return {
    isNeeded: () => isNeeded,
    setNeeded(next) {
      if (next === isNeeded) return;
      isNeeded = next;
      wake();
    },
    requested(request) {
      isWithdrawn ||= request === "Idle";
    },
    isDrained(state) {
      if (requestOf(state) === "Idle") isWithdrawn = false; // The cache shows it.
      return !isWithdrawn && isDrainedFor("Drain_Required", state);
    },
  };
}

/**
 * createOwnDrain writes requests for drains to the AfxdpNetworkNodeState while the node has no SriovNetworkNodeState, and
 * withdraws them there when it gets one.
 */
interface OwnDrain {
  /** Writes the request of this node if it differs. Rejects with KubeError. */
  sync(state: AfxdpNetworkNodeState, sriovState: SriovNetworkNodeState | undefined, signal: AbortSignal): Promise<void>;
}

export function createOwnDrain(deps: { readonly demand: DrainDemand; readonly transport: Transport }): OwnDrain {
  const { demand, transport } = deps;
  return {
    async sync(state, sriovState, signal) {
      const carrier = { type: afxdpNetworkNodeStates, metadata: state.metadata };
      if (sriovState !== undefined) {
        // The Node's annotation belongs to the SriovNetworkNodeState now.
        if (requestOf(state) !== "Idle") await requestOnState("Idle", carrier, transport, signal);
        return;
      }
      const request = demand.isNeeded() ? nextRequest("Drain_Required", state) : undefined;
      demand.requested(request ?? "Idle");
      if (request === undefined) await withdrawRequest(carrier, transport, signal);
      else await requestDrain(request, carrier, transport, signal);
    },
  };
}
