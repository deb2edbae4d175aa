// SPDX-License-Identifier: Apache-2.0
/** createDrainControl is the drain handshake of one pass over the SR-IOV devices of a node. */
import type { DrainRequest, SriovNetworkNodeState } from "@switchyard/api";
import { drainNeedOf, type Plan } from "@switchyard/plan";
import type { Observation } from "../observe/observe.ts";
import type { Phase } from "../report/phase.ts";
import type { Found } from "../report/status-of.ts";
import { isDrainedFor, nextRequest, requestOf } from "./drain-request.ts";
import type { RunningSteps } from "./running-steps.ts";

export interface DrainControlDeps {
  readonly runningSteps: RunningSteps;
  /** The present value of SriovOperatorConfig.spec.disableDrain. */
  readonly isDrainDisabled: () => boolean;
  /** Reports whether other devices of the node than those of SR-IOV need a drain; never by default. */
  readonly isDrainNeededElsewhere?: () => boolean;
  /** Writes the request; rejects with KubeError. */
  readonly requestDrain: (request: DrainRequest) => Promise<void>;
  /** Withdraws the request and returns whether there was one; rejects with KubeError. */
  readonly withdrawRequest: () => Promise<boolean>;
  /** Writes the status if it differs. `found` has a boot id unless steps are still running. */
  readonly report: (phase: Phase, found: Found | undefined) => Promise<void>;
}

/** The drain handshake of one pass. */
export interface DrainControl {
  /** Reports whether the steps of `next` may run now. Otherwise it has requested the drain that they need. */
  allows(next: Plan, found: Observation, round: number): Promise<boolean>;
  /** Reports whether a request stays that the node may not need, because the spec is not merged yet. */
  keepsRequest(): boolean;
}

export function createDrainControl(state: SriovNetworkNodeState, deps: DrainControlDeps): DrainControl {
  let isWithdrawn = false;
  // The operator cannot match policies before the daemon's first report. If a node state is deleted during a drain, the new
  // one has the request of the Node and, at first, an empty spec, which needs no drain.
  const { interfaces = [], unselected = [] } = state.spec ?? {};
  const isEmpty = interfaces.length === 0 && unselected.length === 0;
  const isUnmerged = isEmpty && state.status?.syncStatus === undefined && requestOf(state) !== "Idle";
  return {
    keepsRequest: () => isUnmerged && !isWithdrawn,
    async allows(next, found, round) {
      const own = drainNeedOf(next.impact);
      const isBlocking = own !== undefined && !deps.isDrainDisabled();
      const isNeededElsewhere = deps.isDrainNeededElsewhere?.() === true;
      const needed = isNeededElsewhere && !isBlocking ? "Drain_Required" : own;
      const isDrained = needed !== undefined && !isWithdrawn && isDrainedFor(needed, state);
      if (needed !== undefined && !isDrained && isBlocking) {
        await deps.report({ kind: "waiting-for-drain", reasons: next.reasons }, found);
        if (!isWithdrawn) await deps.requestDrain(nextRequest(needed, state)); // else its echo starts another pass
        return false;
      }
      if (needed !== undefined && !isDrained && isNeededElsewhere) {
        if (!isWithdrawn) await deps.requestDrain(nextRequest(needed, state));
        return true; // these steps disrupt no pod
      }
      // A request that the node does not need, or no longer needs, makes other nodes wait: the policy changed, drains were
      // disabled, or the remaining steps disrupt no pod (sriov-operator.md M-52). The request stays between the rounds that
      // needed it, and while a step of it hangs: the state of its PF is unknown, so no pod may get a VF of the node.
      const isOver = (round === 1 || next.steps.length === 0) && deps.runningSteps.hanging.length === 0;
      if (!isDrained && !isWithdrawn && !isUnmerged && isOver) isWithdrawn = await deps.withdrawRequest();
      return true;
    },
  };
}
