// SPDX-License-Identifier: Apache-2.0
/**
 * The page of alerts, from the rule file of the chart.
 * Usage: `writeFileSync("docs/reference/alerts.md", alertsPage(readFileSync(alertsFile, "utf8")))`.
 */
import { alertsIn } from "../alerts.ts";
import { fileLink } from "./markdown.ts";

export const alertsFile = "charts/switchyard/alerts/switchyard.yaml";

/** `source` is the text of the rule file. */
export function alertsPage(source: string): string {
  const sections = alertsIn(source).flatMap(({ alert, expr, for: duration, labels, annotations }) => [
    `## ${alert}`,
    annotations["summary"] ?? "",
    annotations["description"] ?? "",
    `Severity: ${labels["severity"] ?? "none"}.${duration === undefined ? "" : ` It fires after ${duration}.`}`,
    `\`\`\`promql\n${expr.trim()}\n\`\`\``,
  ]);
  return ["# Alerts", `The alerts of ${fileLink(alertsFile)}.`, ...sections].filter((text) => text !== "").join("\n\n");
}
