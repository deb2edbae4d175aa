// SPDX-License-Identifier: Apache-2.0
/**
 * Ends the pauses of MachineConfigPools that no drain needs any more, whether it came to its end, its node is gone, or who
 * paused the pool died meanwhile. A node that waits for its turn needs the pause as well: the Machine Config Operator
 * would else begin with that node just before we do (sriov-operator.md G).
 * Usage: `reconcile: createDrainPausesReconciler({ nodes, states, machineConfigPools })`.
 */
import type { Node } from "@switchyard/api";
import type { Cache, Reconcile } from "@switchyard/kube";
import type { NodeStateFacts } from "../../node-states/node-state-facts.ts";
import { answerOf, requestFor } from "../drain-facts.ts";
import type { MachineConfigPools } from "./machine-config-pools.ts";

export interface DrainPausesDeps {
  readonly nodes: Cache<Node>;
  readonly states: Cache<NodeStateFacts>;
  readonly machineConfigPools: Pick<MachineConfigPools, "resume">;
}

/** The one key: any node may be the last of its pool. */
export const drainPausesKey = "pauses";

export function createDrainPausesReconciler({ nodes, states, machineConfigPools }: DrainPausesDeps): Reconcile {
  const isAtWork = (node: Node): boolean => {
    const facts = states.get(node.metadata.name)?.drain;
    return facts !== undefined && (requestFor(node, facts) !== "Idle" || answerOf(facts) !== "Idle");
  };

  return async function reconcile(_key, signal) {
    await machineConfigPools.resume(() => nodes.list().filter(isAtWork), signal);
    return undefined;
  };
}
