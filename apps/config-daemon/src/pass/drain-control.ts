// SPDX-License-Identifier: Apache-2.0
/** createDrainControl is the drain handshake of one pass over the SR-IOV devices of a node. */
import type { SriovNetworkNodeState } from "@switchyard/api";
import { drainNeedOf, planWithout, vfsToDrain, type Plan } from "@switchyard/plan";
import { hasVf, holderOf, type HeldVfs, type VfSet } from "@switchyard/policy";
import type { Observation } from "../observe/observe.ts";
import type { DrainDemand } from "./drain-demand.ts";
import { isDrainBegun, isDrainedFor, nextRequest, requestOf } from "./drain-request.ts";
import { isRequestOver, type DrainChange, type PassDrain } from "./run-rounds.ts";
import type { RunningSteps } from "./running-steps.ts";

export interface DrainControlDeps {
  readonly runningSteps: RunningSteps;
  /** The present value of SriovOperatorConfig.spec.disableDrain. */
  readonly isDrainDisabled: () => boolean;
  /** Reports whether other devices of the node than those of SR-IOV need a drain; never by default. */
  readonly isDrainNeededElsewhere?: () => boolean;
  /** Writes the request, or first prepares it; rejects with KubeError. */
  readonly requestDrain: (change: Exclude<DrainChange, "withdraw">, found: Observation) => Promise<void>;
  /** Withdraws the request and returns whether there was one; rejects with KubeError. */
  readonly withdrawRequest: () => Promise<boolean>;
  /** Remembers withdrawals that the cache does not show yet; by default, the cache is up to date. */
  readonly withdrawals?: Pick<DrainDemand, "isWithdrawn" | "passBegins">;
}

export function createDrainControl(state: SriovNetworkNodeState, deps: DrainControlDeps): PassDrain<Plan, Observation> {
  const { runningSteps, isDrainDisabled, isDrainNeededElsewhere = () => false } = deps;
  let isWithdrawn = false;
  // A withdrawal of an earlier pass that may have failed is completed before the next request.
  const wasWithdrawn = deps.withdrawals?.isWithdrawn(state) === true;
  // The operator cannot match policies before the daemon's first report. If a node state is deleted during a drain, the new
  // one has the request of the Node and, at first, an empty spec, which needs no drain.
  const { interfaces = [], unselected = [] } = state.spec ?? {};
  const isEmpty = interfaces.length === 0 && unselected.length === 0;
  const isUnmerged = isEmpty && state.status?.syncStatus === undefined && requestOf(state) !== "Idle";

  return {
    decide(next, round, found) {
      const own = drainNeedOf(next.impact);
      const isBlocking = own !== undefined && !isDrainDisabled();
      const isNeededElsewhere = isDrainNeededElsewhere();
      const needed = isNeededElsewhere && !isBlocking ? "Drain_Required" : own;
      // Which pods have AF_XDP devices is not known here.
      const vfs = isNeededElsewhere ? undefined : vfsToDrain(next, found);
      const isDrained = needed !== undefined && !isWithdrawn && !wasWithdrawn && isDrainedFor(needed, state, vfs);
      if (needed !== undefined && !isDrained && (isBlocking || isNeededElsewhere)) {
        // Steps that disrupt no pod need not wait for the drain of others. The echo of a withdrawal starts another pass.
        if (isWithdrawn) return { mustWait: isBlocking };
        const change = wasWithdrawn ? "withdraw" : { request: nextRequest(needed, state, vfs), vfs };
        const waiting = vfs && pfsThatWait(vfs, isDrainBegun(state, vfs) ? found : undefined);
        return { mustWait: isBlocking, change, ...(waiting && { ready: planWithout(next, waiting) }) };
      }
      // A request that the node does not need, or no longer needs, makes other nodes wait: the policy changed, drains were
      // disabled, or the remaining steps disrupt no pod (sriov-operator.md M-52). The request stays while a step of it hangs: the
      // state of its PF is unknown, so no pod may get a VF of the node.
      const isOver = isRequestOver(next, round) && runningSteps.hanging.length === 0;
      const mayWithdraw = !isDrained && !isWithdrawn && !isUnmerged && isOver;
      return { mustWait: false, ...(mayWithdraw && { change: "withdraw" }) };
    },
    async write(change, found) {
      if (change === "withdraw") isWithdrawn = await deps.withdrawRequest();
      else await deps.requestDrain(change, found);
    },
    keepsRequest: () => isUnmerged && !isWithdrawn,
  };
}

/**
 * Returns the PFs whose VFs must not change yet. While the drain runs, no pod can get a VF of it. A PF of which no pod has such a VF
 * does not wait for the pods of other PFs, which a PodDisruptionBudget may protect for hours. `found` is undefined before the drain runs.
 */
function pfsThatWait(vfs: VfSet, found: HeldVfs | undefined): ReadonlySet<string> {
  const pfs = new Set(vfs.keys());
  for (const { pciAddress, Vfs = [] } of found?.interfaces ?? []) {
    const isFree = Vfs.every((vf) => !hasVf(vfs, pciAddress, vf.vfID) || holderOf(found ?? {}, vf) === "free");
    if (isFree) pfs.delete(pciAddress);
  }
  return pfs;
}
