// SPDX-License-Identifier: Apache-2.0
/**
 * createOwnDrain writes requests for drains to the AfxdpNetworkNodeState while the node has no SriovNetworkNodeState, and
 * withdraws them there when it gets one.
 * Usage: `const drain = createOwnDrain({ demand, transport }); await drain.sync(state, sriovState, signal);`
 */
import { afxdpNetworkNodeStates, type AfxdpNetworkNodeState, type SriovNetworkNodeState } from "@switchyard/api";
import type { Transport } from "@switchyard/kube";
import { nextRequest, requestDrain, requestOf, requestOnState, withdrawRequest } from "../../pass/drain-request.ts";
import type { DrainDemand } from "./drain-demand.ts";

export interface OwnDrain {
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
