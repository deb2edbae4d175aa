// SPDX-License-Identifier: Apache-2.0
/**
 * planText formats a plan in the manner of `terraform plan`: one line per step, then the impact with its reasons, then counts.
 * Usage: `planText(plan, colours)`; `summaryText(summary, colours)`.
 */
import type { Impact } from "@switchyard/plan";
import type { NodePlan, PlanSummary } from "../cluster/plan-cluster.ts";
import type { Colours } from "./colours.ts";
import { signOf, type StepSign } from "./step-sign.ts";
import { wrap } from "./wrap.ts";

const width = 80;

/** The plan of one node. */
export function planText({ node, impact, steps, reasons, converged }: NodePlan, colours: Colours): string {
  const title = colours.bold(`${node}:`);
  if (steps.length === 0 && impact !== "reboot")
    return `${title} ${converged ? "nothing to do" : "the spec cannot be applied"}\n`;
  const signs = steps.map(signOf);
  const count = (sign: StepSign): number => signs.filter((one) => one === sign).length;
  const lines = steps.map(({ text }, index) => {
    const sign = signs[index] ?? "~";
    return `  ${paintSign(sign, colours)} ${text}`;
  });
  const reasonLines = reasons.flatMap(({ field, text }) => [
    `    ${field}`,
    ...wrap(text, width - 6).map((line) => `      ${line}`),
  ]);
  return [
    title,
    ...lines,
    "",
    `  Impact: ${paintImpact(impact, colours)}`,
    ...reasonLines,
    `  Steps: ${count("+")} to add, ${count("~")} to change, ${count("-")} to remove.`,
    "",
  ].join("\n");
}

/** The summary of all nodes. */
export function summaryText(summary: PlanSummary, colours: Colours): string {
  const { nodes, converged, none, drain, reboot } = summary;
  if (nodes === 0) return "No nodes in the input.\n";
  const failed = nodes - converged - none - drain - reboot;
  const parts = [
    ...(converged > 0 ? [`${converged} ${converged === 1 ? "has" : "have"} nothing to do`] : []),
    ...(none > 0 ? [`${none} ${none === 1 ? "changes" : "change"} without disrupting pods`] : []),
    ...(drain > 0 ? [colours.yellow(`${drain} ${drain === 1 ? "drains" : "drain"}`)] : []),
    ...(reboot > 0 ? [colours.red(`${reboot} ${reboot === 1 ? "reboots" : "reboot"}`)] : []),
    ...(failed > 0 ? [`${failed} cannot apply the spec`] : []),
  ];
  return `${colours.bold("Plan:")} ${nodes} ${nodes === 1 ? "node" : "nodes"}: ${parts.join(", ")}.\n`;
}

function paintSign(sign: StepSign, colours: Colours): string {
  if (sign === "+") return colours.green(sign);
  return sign === "-" ? colours.red(sign) : colours.yellow(sign);
}

function paintImpact(impact: Impact, colours: Colours): string {
  switch (impact) {
    case "none":
      return `${colours.green("none")}, no pods are disrupted`;
    case "drain":
      return `${colours.yellow("drain")}, because of`;
    case "reboot":
      return `${colours.red("reboot")}, because of`;
  }
}
