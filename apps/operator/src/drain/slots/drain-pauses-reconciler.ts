// SPDX-License-Identifier: Apache-2.0
/**
 * createDrainPausesReconciler resumes MachineConfigPools that no drain needs paused any more: the drain has ended, its
 * node is gone, or the replica that paused the pool has died. A node that waits for a slot needs the pause, too.
 * Otherwise the Machine Config Operator could start on that node just before its drain begins (sriov-operator.md G).
 * Usage: `const reconcile = createDrainPausesReconciler({ nodes, states, machineConfigPools })`.
 */
import { drainAnswers, drainRequests, type Node } from "@switchyard/api";
import type { Cache, Reconcile } from "@switchyard/kube";
import { answerOf, requestFor } from "../drain-facts.ts";
import type { DrainCarriers } from "../drain-carriers.ts";
import type { MachineConfigPools } from "./machine-config-pools.ts";

export interface DrainPausesDeps {
  readonly nodes: Cache<Node>;
  readonly states: DrainCarriers;
  readonly machineConfigPools: Pick<MachineConfigPools, "resume">;
}

/** The only key, because any node may be the last of its pool. */
export const drainPausesKey = "pauses";

export function createDrainPausesReconciler({ nodes, states, machineConfigPools }: DrainPausesDeps): Reconcile {
  const needsPause = (node: Node): boolean => {
    const facts = states.get(node.metadata.name)?.drain;
    return (
      facts !== undefined && (requestFor(node, facts) !== drainRequests.idle || answerOf(facts) !== drainAnswers.idle)
    );
  };

  return async function reconcile(_key, signal) {
    await machineConfigPools.resume(() => nodes.list().filter(needsPause), signal);
    return undefined;
  };
}
