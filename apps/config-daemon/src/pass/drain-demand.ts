// SPDX-License-Identifier: Apache-2.0
/**
 * createDrainDemand connects the two passes of a node: a node has one request. The pass for SR-IOV makes it or, on a node
 * without a SriovNetworkNodeState, the pass for AF_XDP by createOwnDrain.
 */
import {
  afxdpNetworkNodeStates,
  type AfxdpNetworkNodeState,
  type DrainNeed,
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
  /** To be called at the start of each pass with the state that the cache has: it may show the withdrawal. */
  readonly passBegins: (state: Handshake) => void;
  /** To be called before a request is written. */
  readonly requested: (request: DrainRequest, state: Handshake) => void;
  /** Reports whether the node is drained for `needed`, and the request was not withdrawn since. */
  readonly isDrainedFor: (needed: DrainNeed, state: Handshake) => boolean;
  /** Reports whether the request was withdrawn, and the cache does not show that yet. The write may have failed. */
  readonly isWithdrawn: (state: Handshake) => boolean;
}

export function createDrainDemand(wake: () => void): DrainDemand {
  let isNeeded = false;
  /** Uid of the state whose request was withdrawn; undefined if none was, or if the cache shows it. */
  let withdrawn: string | undefined;
  const isWithdrawn = (state: Handshake): boolean => withdrawn === uidOf(state) && requestOf(state) !== "Idle";
  return {
    isNeeded: () => isNeeded,
    setNeeded(next) {
      if (next === isNeeded) return;
      isNeeded = next;
      wake();
    },
    passBegins(state) {
      if (!isWithdrawn(state)) withdrawn = undefined;
    },
    requested(request, state) {
      if (request === "Idle") withdrawn = uidOf(state);
    },
    isDrainedFor: (needed, state) => !isWithdrawn(state) && isDrainedFor(needed, state),
    isWithdrawn,
  };
}

function uidOf({ metadata }: Handshake): string {
  return metadata.uid ?? "";
}

interface OwnDrain {
  /** Writes the request of this node if it differs. Rejects with KubeError. */
  sync(state: AfxdpNetworkNodeState, sriovState: SriovNetworkNodeState | undefined, signal: AbortSignal): Promise<void>;
}

/**
 * createOwnDrain writes requests for drains to the AfxdpNetworkNodeState while the node has no SriovNetworkNodeState, and
 * withdraws them there when it gets one.
 */
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
      // A withdrawal that may have failed is completed before the next request.
      const isNeeded = demand.isNeeded() && !demand.isWithdrawn(state);
      const request = isNeeded ? nextRequest("Drain_Required", state) : undefined;
      demand.requested(request ?? "Idle", state);
      if (request === undefined) await withdrawRequest(carrier, transport, signal);
      else await requestDrain(request, carrier, transport, signal);
    },
  };
}
