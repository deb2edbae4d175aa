// SPDX-License-Identifier: Apache-2.0
/** The page of metrics, from the counters, gauges and histograms that the sources define. */
import ts from "typescript";
import { GenerateError } from "../generate-error.ts";
import { code, table } from "../markdown.ts";
import { constantOf, descend, literalText, memberOf, type Source } from "./sources.ts";

export interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly labels: readonly string[];
  readonly help: string;
  readonly path: string;
}

export function metricsPage(sources: readonly Source[]): string {
  const groups = Object.groupBy(metricsIn(sources), ({ path }) => path.split("/").slice(0, 2).join("/"));
  const sections = Object.entries(groups).flatMap(([project, metrics = []]) => {
    const rows = metrics.map(({ name, type, labels, help }) => {
      return [code(name), type, labels.map(code).join(", "), help];
    });
    const title = project.startsWith("apps/") ? project.slice(5) : `Services that use ${project}`;
    const common = commonLabels(sources.filter(({ path }) => path.startsWith(`${project}/`)));
    return [
      `## ${title}`,
      ...(common.length === 0 ? [] : [`All metrics of this process also have ${list(common.map(code))}.`]),
      table(["Name", "Type", "Labels", "Meaning"], rows),
    ];
  });
  return [
    "# Metrics",
    "A process serves its metrics at `/metrics` of `--metrics-address` ([flags](flags.md)). The alerts that use them are " +
      "in [alerts.md](alerts.md).",
    ...sections,
  ].join("\n\n");
}

const types = { Counter: "counter", Gauge: "gauge", Histogram: "histogram" } as const;

/** Throws GenerateError for a metric without a text. Sorted by file. A label that a registry adds to all its metrics is not among the labels. */
export function metricsIn(sources: readonly Source[]): readonly Metric[] {
  return sources.flatMap(({ path, tree }) => {
    const metrics: Metric[] = [];
    descend(tree, (node) => {
      if (!ts.isNewExpression(node)) return;
      const type = Object.entries(types).find(([name]) => name === node.expression.getText())?.[1];
      const [options] = node.arguments ?? [];
      if (type === undefined || options === undefined || !ts.isObjectLiteralExpression(options)) return;
      const name = literalText(memberOf(options, "name")) ?? "";
      const help = literalText(memberOf(options, "help")) ?? "";
      if (help === "")
        throw new GenerateError("NO_TEXT", `${path}: metric ${name}`, "has no help that says what it counts");
      metrics.push({
        type,
        path,
        name,
        help,
        labels: listOf(memberOf(options, "labelNames")),
      });
    });
    return metrics;
  });
}

/** The texts of a list literal, or of the constant that has one. */
function listOf(list: ts.Expression | undefined): readonly string[] {
  const value = list && constantOf(list);
  if (value === undefined) return [];
  return ts.isArrayLiteralExpression(value) ? value.elements.map((it) => literalText(it) ?? "…") : ["…"];
}

/** Labels that a call of setDefaultLabels() adds to each metric of the process. */
function commonLabels(sources: readonly Source[]): readonly string[] {
  const labels: string[] = [];
  for (const { tree } of sources) {
    descend(tree, (node) => {
      if (!ts.isCallExpression(node) || !node.expression.getText().endsWith(".setDefaultLabels")) return;
      const [object] = node.arguments;
      if (object === undefined || !ts.isObjectLiteralExpression(object)) return;
      labels.push(...object.properties.map((it) => it.name?.getText() ?? "…"));
    });
  }
  return labels;
}

function list(labels: readonly string[]): string {
  return `the label${labels.length === 1 ? "" : "s"} ${labels.join(", ")}`;
}
