// SPDX-License-Identifier: Apache-2.0
/**
 * createDefaultPoolStatusReconciler reports the drain slot of nodes in no pool, which have no SriovNetworkPoolConfig to
 * report on. While such a node holds the slot, DrainDegraded on the SriovOperatorConfig "default" names it: False while
 * its drain makes progress, True once its daemon has stalled.
 */
import { conditionTypes, drainReasons, operatorConfigName, type Node, type SriovOperatorConfig } from "@switchyard/api";
import type { Cache, Reconcile, Writer } from "@switchyard/kube";
import { poolsSelecting, type Rules } from "@switchyard/policy";
import type { LiveRules } from "../../facts/live-rules.ts";
import { createConfigCondition, type ConfigCondition } from "../../reports/config-condition.ts";
import type { DrainCarriers } from "../drain-carriers.ts";
import { byAge, describeStalls, heldSlot, type HeldSlot } from "../../facts/held-slot.ts";

export interface DefaultPoolStatusDeps {
  readonly nodes: Cache<Node>;
  readonly states: DrainCarriers;
  readonly configs: Cache<SriovOperatorConfig>;
  readonly rules: LiveRules;
  readonly writer: Pick<Writer<SriovOperatorConfig>, "applyStatus">;
  readonly now: () => Date;
}

/** The only key. */
export const defaultPoolKey = operatorConfigName;

export function createDefaultPoolStatusReconciler(deps: DefaultPoolStatusDeps): Reconcile {
  const setConfigCondition = createConfigCondition({ ...deps, type: conditionTypes.drainDegraded });

  return async function reconcile(name, signal) {
    const config = deps.configs.get(name);
    const rules = deps.rules();
    if (config === undefined || rules === undefined) return undefined;
    const slots = heldInNoPool(rules);
    await setConfigCondition(config, slots.length === 0 ? undefined : defaultPoolCondition(slots), signal);
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

function defaultPoolCondition(slots: readonly HeldSlot[]): ConfigCondition {
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
