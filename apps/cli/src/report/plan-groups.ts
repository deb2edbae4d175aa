// SPDX-License-Identifier: Apache-2.0
/**
 * planGroups puts nodes with the same steps together, because most nodes of a fleet have the same cards.
 * Usage: `planGroups(planCluster(cluster, options))`.
 */
import type { NodePlan } from "../cluster/plan-cluster.ts";
import { signOf } from "../output/step-sign.ts";
import { clip } from "./clip.ts";
import type { PlanGroup } from "./report.ts";

const order: readonly string[] = ["reboot", "drain", "none"];

/** Nodes that change: reboots first, then drains. */
export function planGroups(plans: readonly NodePlan[]): readonly PlanGroup[] {
  const changing = plans.filter(({ steps, impact }) => steps.length > 0 || impact === "reboot");
  const groups = Map.groupBy(changing, ({ impact, steps, reasons }) =>
    JSON.stringify([impact, steps.map(({ text }) => text), reasons]),
  );
  return [...groups.values()]
    .flatMap((same): readonly PlanGroup[] => {
      const [first] = same;
      if (first === undefined) return [];
      const { impact, steps, reasons } = first;
      return [
        {
          nodes: same.map(({ node }) => clip(node)),
          impact,
          steps: steps.map((step) => ({ sign: signOf(step), text: clip(step.text) })),
          reasons: reasons.map(({ field, text }) => ({ field: clip(field), text: clip(text) })),
        },
      ];
    })
    .sort((a, b) => order.indexOf(a.impact) - order.indexOf(b.impact));
}
