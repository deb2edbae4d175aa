// SPDX-License-Identifier: Apache-2.0
/** The page of alerts, from the rule file of the chart, and of the recording rules that the operator deploys. */
import ts from "typescript";
import { parse } from "yaml";
import { code, fileLink, table } from "../markdown.ts";
import { constantOf, descend, literalText, memberOf, type Source } from "./sources.ts";

export interface Alert {
  readonly group: string;
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Omit<Alert, "group">[] }[];
}

export const alertsFile = "charts/switchyard/alerts/switchyard.yaml";

export interface RecordingRule {
  readonly record: string;
  readonly path: string;
}

/** `ruleFile` is the text of the rule file. */
export function alertsPage(ruleFile: string, sources: readonly Source[]): string {
  const rows = alertsIn(ruleFile).map(({ alert, labels, annotations }) => [
    `[${alert}](alerts/${alert}.md)`,
    labels["severity"] ?? "none",
    annotations["summary"] ?? "",
  ]);
  const rules = recordingRules(sources).map(({ record }) => `- ${code(record)}`);
  return [
    "# Alerts",
    `The alerts of ${fileLink(alertsFile)}. The recording rules that the operator deploys are [below](#recording-rules).`,
    "Each has a page, to which its annotation `runbook_url` leads.",
    table(["Alert", "Severity", "Summary"], rows),
    "## Recording rules",
    "The operator deploys a PrometheusRule with these rules if it is started with `--prometheus-operator` and " +
      "`--prometheus-rules` ([flags](flags.md)).",
    rules.join("\n"),
  ]
    .filter((text) => text !== "")
    .join("\n\n");
}

/** Objects with a `record`; one that is made for each item of a list counts as often as the list has items. */
export function recordingRules(sources: readonly Source[]): readonly RecordingRule[] {
  return sources.flatMap(({ path, tree }) => {
    const rules: RecordingRule[] = [];
    descend(tree, (node) => {
      const record = ts.isObjectLiteralExpression(node) ? memberOf(node, "record") : undefined;
      const text = literalText(record);
      if (text === undefined) return;
      const items = text.includes("…") ? itemsAround(node) : [""];
      rules.push(...items.map((item) => ({ record: text.replace("…", item), path })));
    });
    return rules;
  });
}

/** The texts of the list whose map() a node is in. */
function itemsAround(node: ts.Node): readonly string[] {
  const call = ts.findAncestor(node, (it): it is ts.CallExpression => {
    return ts.isCallExpression(it) && ts.isPropertyAccessExpression(it.expression) && it.expression.name.text === "map";
  });
  const list =
    call && ts.isPropertyAccessExpression(call.expression) ? constantOf(call.expression.expression) : undefined;
  return list !== undefined && ts.isArrayLiteralExpression(list)
    ? list.elements.map((it) => literalText(it) ?? "…")
    : ["…"];
}

/** Reads the alerting rules of a Prometheus rule file. All alerts, in the order of the file; recording rules are left out. */
export function alertsIn(source: string): readonly Alert[] {
  const { groups } = parse(source) as RuleFile;
  return groups.flatMap(({ name, rules }) =>
    rules.filter(({ alert }) => typeof alert === "string").map((rule) => ({ ...rule, group: name })),
  );
}
