// SPDX-License-Identifier: Apache-2.0
/** The pages of docs/reference: what the programs take, report and serve, from their sources. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { alertPages } from "./alert-pages.ts";
import { alertsFile, alertsIn, alertsPage } from "./alerts-page.ts";
import { upstreamValuesPage } from "../chart/upstream-values.ts";
import { valuesPage } from "../chart/values-page.ts";
import { componentsPage } from "./components-page.ts";
import { conditionsPage } from "./conditions-page.ts";
import { eventsPage } from "./events-page.ts";
import { findingsPage } from "./findings-page.ts";
import { flagsPage } from "./flags-page.ts";
import { metricsIn, metricsPage } from "./metrics-page.ts";
import type { Source } from "./sources.ts";

const contents = [
  ["../api/README.md", "API", "the kinds, field by field"],
  ["chart-values.md", "Chart values", "values of the Helm chart with their defaults"],
  ["upstream-values.md", "Values of the Go operator's chart", "what becomes of each"],
  ["components.md", "Components", "images of the chart, and what was run or compared with each"],
  ["compatibility.md", "Versions of Kubernetes", "what is tested with which, and what is weaker with older ones"],
  ["flags.md", "Flags", "flags and environment variables of each program"],
  ["conditions.md", "Conditions", "types and reasons of `status.conditions`, and what to do"],
  ["events.md", "Events", "reasons of events, and what to do"],
  ["findings.md", "Findings", "codes of `switchyard doctor`"],
  ["metrics.md", "Metrics", "names, types and labels of metrics"],
  ["alerts.md", "Alerts", "alerting and recording rules for Prometheus"],
] as const;

/** Texts of the pages by their names, without a header. */
export function referencePages(root: string, sources: readonly Source[]): ReadonlyMap<string, string> {
  const ruleFile = readFileSync(join(root, alertsFile), "utf8");
  const pages = new Map([
    ["README.md", indexPage()],
    ["chart-values.md", valuesPage()],
    ["upstream-values.md", upstreamValuesPage()],
    ["components.md", componentsPage()],
    ["flags.md", flagsPage(root)],
    ["conditions.md", conditionsPage(sources)],
    ["events.md", eventsPage(sources)],
    ["findings.md", findingsPage(sources)],
    ["metrics.md", metricsPage(sources)],
    ["alerts.md", alertsPage(ruleFile, sources)],
    ...alertPages(alertsIn(ruleFile), metricsIn(sources)),
  ]);
  return new Map([...pages].map(([name, text]) => [name, `${text.trimEnd()}\n`]));
}

function indexPage(): string {
  const lines = contents.map(([file, title, about]) => `- [${title}](${file}): ${about}`);
  return `# Reference\n\nGenerated from the sources by \`npm run generate\`.\n\n${lines.join("\n")}`;
}
