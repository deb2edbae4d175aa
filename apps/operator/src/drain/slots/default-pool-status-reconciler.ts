// SPDX-License-Identifier: Apache-2.0
/**
 * Nodes in no pool have no SriovNetworkPoolConfig to show who holds their slot. So DrainDegraded on the SriovOperatorConfig
 * "default" does, while there is such a node: False while it goes on, True once its daemon has stalled.
 * Usage: `reconcile: createDefaultPoolStatusReconciler({ nodes, states, configs, rules, writer, now })`.
 */
import {
  conditionTypes,
  drainReasons,
  operatorConfigName,
  type Condition,
  type Node,
  type SriovOperatorConfig,
} from "@switchyard/api";
import { setCondition, type Cache, type Reconcile, type Writer } from "@switchyard/kube";
import { poolsSelecting, type Rules } from "@switchyard/policy";
import type { LiveRules } from "../../node-states/live-rules.ts";
import type { NodeStateFacts } from "../../node-states/node-state-facts.ts";
import { byAge, describeStalls, heldSlot, type HeldSlot } from "./held-slot.ts";

export interface DefaultPoolStatusDeps {
  readonly nodes: Cache<Node>;
  readonly states: Cache<NodeStateFacts>;
  readonly configs: Cache<SriovOperatorConfig>;
  readonly rules: LiveRules;
  readonly writer: Pick<Writer<SriovOperatorConfig>, "applyStatus">;
  readonly now: () => Date;
}

/** The one key: there is one such pool. */
export const defaultPoolKey = operatorConfigName;

export function createDefaultPoolStatusReconciler(deps: DefaultPoolStatusDeps): Reconcile {
  return async function reconcile(name, signal) {
    const config = deps.configs.get(name);
    const rules = deps.rules();
    if (config === undefined || rules === undefined) return undefined;
    const existing = (config.status?.conditions ?? []).filter(({ type }) => type === conditionTypes.drainDegraded);
    const slots = heldInNoPool(rules);
    // An apply of nothing would be a write, too.
    if (slots.length === 0 && existing.length === 0) return undefined;
    const { generation: observedGeneration = 0 } = config.metadata;
    const verdict = { type: conditionTypes.drainDegraded, ...judge(slots), observedGeneration };
    const conditions = slots.length === 0 ? [] : setCondition(existing, verdict, deps.now());
    await deps.writer.applyStatus({ metadata: { name }, status: { conditions } }, signal);
    const afterMs = Math.min(...slots.map(({ stallsInMs }) => stallsInMs));
    return Number.isFinite(afterMs) ? { afterMs } : undefined;
  };

  function heldInNoPool(rules: Rules): readonly HeldSlot[] {
    const nowMs = deps.now().getTime();
    return deps.states
      .list()
      .flatMap((state) => heldSlot(state, nowMs) ?? [])
      .filter(({ node: name }) => {
        const node = deps.nodes.get(name);
        return node !== undefined && poolsSelecting(node, rules).length === 0;
      })
      .sort(byAge);
  }
}

function judge(slots: readonly HeldSlot[]): Pick<Condition, "status" | "reason" | "message"> {
  const stall = describeStalls(slots);
  if (stall !== undefined) {
    return { status: "True", reason: drainReasons.daemonStalled, message: `nodes in no pool: ${stall}` };
  }
  const [first, ...others] = slots;
  const since = first?.since === undefined ? "" : ` since ${first.since}`;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  const message = `nodes in no pool: node ${first?.node ?? ""} holds the drain slot, ${first?.state ?? ""}${since}${more}`;
  return { status: "False", reason: drainReasons.draining, message };
}
