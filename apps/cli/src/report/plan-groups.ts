// SPDX-License-Identifier: Apache-2.0
/** planGroups puts nodes with the same steps together, because most nodes of a fleet have the same cards. */
import type { PrintedNodePlan } from "../cluster/plan-cluster.ts";
import { laterLines, podSentences, signOf } from "../output/plan-text.ts";
import { pageText } from "../text.ts";
import type { PlanGroup } from "./report.ts";

const order: readonly string[] = ["reboot", "drain", "none"];

/** Nodes that change: reboots first, then drains. */
export function planGroups(plans: readonly PrintedNodePlan[]): readonly PlanGroup[] {
  const changing = plans.filter(
    ({ steps, impact, moves }) => steps.length > 0 || impact === "reboot" || moves !== undefined,
  );
  const groups = Map.groupBy(changing, ({ impact, steps, waiting, moves, reasons }) =>
    JSON.stringify([impact, steps.map(({ text }) => text), waiting, moves, reasons]),
  );
  return [...groups.values()]
    .flatMap((same): readonly PlanGroup[] => {
      const [first] = same;
      if (first === undefined) return [];
      const { impact, steps, reasons } = first;
      return [
        {
          nodes: same.map(({ node }) => pageText(node)),
          impact,
          steps: [
            ...steps.map((step) => ({ sign: signOf(step), text: pageText(step.text) })),
            ...laterLines(first).map((text) => ({ sign: "…", text: pageText(text) })),
          ],
          reasons: reasons.map(({ field, text }) => ({ field: pageText(field), text: pageText(text) })),
          pods: podLines(same),
        },
      ];
    })
    .sort((a, b) => order.indexOf(a.impact) - order.indexOf(b.impact));
}

/** What happens to pods, with the node if there are several. Nodes without such pods are named only if no node has some. */
function podLines(plans: readonly PrintedNodePlan[]): readonly string[] {
  const known = plans.flatMap((plan) => (plan.pods === undefined ? [] : [{ ...plan, pods: plan.pods }]));
  const affected = known.filter(({ pods }) => pods.evicted.length + pods.disrupted.length > 0);
  if (affected.length === 0) return known.slice(0, 1).flatMap(podSentences);
  return affected.flatMap(({ node, ...plan }) =>
    podSentences(plan).map((sentence) => pageText(plans.length === 1 ? sentence : `${node}: ${sentence}`)),
  );
}
