// SPDX-License-Identifier: Apache-2.0
/**
 * planText formats a plan in the manner of `terraform plan`: one line per step, then the impact with its reasons, then counts.
 */
import type { Impact } from "@switchyard/plan";
import type { PrintedNodePlan, PlanSummary, PodName } from "../cluster/plan-cluster.ts";
import type { TextStyle } from "../terminal.ts";
import { printable, wrap } from "../text.ts";

type StepSign = "+" | "~" | "-";

/** Pods of a node that are named. */
const maxNames = 10;

/** The plan of one node. */
export function planText(plan: PrintedNodePlan, style: TextStyle): string {
  const { node, impact, steps, reasons, pods, converged, moves = [] } = plan;
  const { width } = style;
  const title = style.bold(`${node}:`);
  if (steps.length === 0 && impact !== "reboot" && moves.length === 0)
    return `${title} ${converged ? "nothing to do" : "the spec cannot be applied"}\n`;
  const signs = steps.map(signOf);
  const count = (sign: StepSign): number => signs.filter((one) => one === sign).length;
  const lines = steps.map(({ text }, index) => {
    const sign = signs[index] ?? "~";
    return `  ${paintSign(sign, style)} ${text}`;
  });
  const reasonLines = reasons.flatMap(({ field, text }) => [
    `    ${field}`,
    ...wrap(text, width - 6).map((line) => `      ${line}`),
  ]);
  return [
    title,
    ...lines,
    ...laterLines(plan).flatMap((line) => wrap(line, width - 4).map((part, at) => `  ${at === 0 ? "…" : " "} ${part}`)),
    "",
    `  Impact: ${paintImpact(impact, style)}`,
    ...reasonLines,
    ...(pods === undefined ? [] : podLines({ ...plan, pods }, width)),
    `  Steps: ${count("+")} to add, ${count("~")} to change, ${count("-")} to remove.`,
    "",
  ].join("\n");
}

/** The summary of all nodes. */
export function summaryText(summary: PlanSummary, style: TextStyle): string {
  const { nodes, converged, none, drain, reboot, evictedPods } = summary;
  if (nodes === 0) return "No nodes in the input.\n";
  const failed = nodes - converged - none - drain - reboot;
  const parts = [
    ...(converged > 0 ? [converged === 1 ? "1 has nothing to do" : `${converged} have nothing to do`] : []),
    ...(none > 0 ? [none === 1 ? "1 changes without disrupting pods" : `${none} change without disrupting pods`] : []),
    ...(drain > 0 ? [style.yellow(drain === 1 ? "1 drains" : `${drain} drain`)] : []),
    ...(reboot > 0 ? [style.red(reboot === 1 ? "1 reboots" : `${reboot} reboot`)] : []),
    ...(failed > 0 ? [`${failed} cannot apply the spec`] : []),
  ];
  const evicted = evictedPods === undefined ? "" : ` ${podsEvicted(evictedPods)}.`;
  const counted = nodes === 1 ? "1 node" : `${nodes} nodes`;
  return `${style.bold("Plan:")} ${counted}: ${parts.join(", ")}.${evicted}\n`;
}

/** What happens after the steps, or without any; empty if nothing does. */
export function laterLines({ moves = [], waiting = [], impact }: PrintedNodePlan): readonly string[] {
  const event = impact === "reboot" ? "the reboot" : "the reset of the card";
  return [
    ...moves.map(({ text }) => printable(text)),
    ...(waiting.length === 0 ? [] : [`further steps on ${waiting.join(", ")}, known after ${event}`]),
  ];
}

type KnownPods = Pick<PrintedNodePlan, "drainedVfs"> & { readonly pods: NonNullable<PrintedNodePlan["pods"]> };

/** What happens to the pods of a node, a sentence each. */
export function podSentences({ drainedVfs, pods: { evicted, disrupted } }: KnownPods): readonly string[] {
  return [
    `${podsEvicted(evicted.length)}${listOf(evicted)}`,
    ...(drainedVfs === undefined ? [] : ["the node stays schedulable"]),
    ...(disrupted.length > 0 ? [`${podsDisrupted(disrupted.length)}${listOf(disrupted)}`] : []),
  ];
}

function podLines(known: KnownPods, width: number): readonly string[] {
  const [first = "", ...others] = podSentences(known).flatMap((sentence) => wrap(sentence, width - 9));
  return [`  Pods: ${first}`, ...others.map((line) => `        ${line}`)];
}

function podsEvicted(count: number): string {
  if (count === 0) return "No pod is evicted";
  return count === 1 ? "1 pod is evicted" : `${count} pods are evicted`;
}

function podsDisrupted(count: number): string {
  return count === 1 ? "1 pod is not evicted and can lose VFs" : `${count} pods are not evicted and can lose VFs`;
}

/** ": apps/web-0, apps/web-1, and 3 more"; empty without pods. */
function listOf(pods: readonly PodName[]): string {
  if (pods.length === 0) return "";
  const names = pods.slice(0, maxNames).map(({ namespace, name }) => printable(`${namespace}/${name}`));
  return `: ${[...names, ...(pods.length > maxNames ? [`and ${pods.length - maxNames} more`] : [])].join(", ")}`;
}

function paintSign(sign: StepSign, style: TextStyle): string {
  if (sign === "+") return style.green(sign);
  return sign === "-" ? style.red(sign) : style.yellow(sign);
}

function paintImpact(impact: Impact, style: TextStyle): string {
  switch (impact) {
    case "none":
      return `${style.green("none")}, no pods are disrupted`;
    case "drain":
      return `${style.yellow("drain")}, because of`;
    case "reboot":
      return `${style.red("reboot")}, because of`;
  }
}

/** What a step does in the manner of `terraform plan`. set-num-vfs and bind-driver depend on the previous value. */
export function signOf(step: PrintedNodePlan["steps"][number]): StepSign {
  if (step.kind === "set-num-vfs") return step.from === 0 ? "+" : step.to === 0 ? "-" : "~";
  if (step.kind === "bind-driver") return step.from === undefined ? "+" : "~";
  if (/^(create|add|load|install|write)-/.test(step.kind)) return "+";
  return /^(release|delete|remove)-/.test(step.kind) ? "-" : "~";
}
