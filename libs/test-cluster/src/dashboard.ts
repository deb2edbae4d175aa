// SPDX-License-Identifier: Apache-2.0
/** The panels of the chart's dashboard, with their queries as Prometheus gets them from Grafana. */
import { isRecord } from "@switchyard/kube";
import { findWorkspaceRoot } from "@switchyard/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

export interface Panel {
  readonly title: string;
  readonly description: string;
  readonly expressions: readonly string[];
}

/** All panels that have queries. */
export async function readPanels(): Promise<readonly Panel[]> {
  const file = join(findWorkspaceRoot(), "charts/switchyard/dashboards/switchyard.json");
  const dashboard: unknown = JSON.parse(await readFile(file, "utf8"));
  const panels = isRecord(dashboard) && Array.isArray(dashboard["panels"]) ? dashboard["panels"].filter(isRecord) : [];
  return panels.flatMap(({ title, description, targets }) => {
    const all = Array.isArray(targets) ? targets.filter(isRecord) : [];
    const expressions = all.flatMap(({ expr }) => (typeof expr === "string" ? [withValues(expr)] : []));
    return expressions.length === 0 ? [] : [{ title: textOf(title), description: textOf(description), expressions }];
  });
}

/** The queries of all panels. */
export async function dashboardExpressions(): Promise<readonly string[]> {
  return (await readPanels()).flatMap(({ expressions }) => expressions);
}

/** Grafana's variables have the values with which a dashboard opens. */
function withValues(expression: string): string {
  return expression.replaceAll("$__rate_interval", "5m").replaceAll(/\$(namespace|node)\b/g, ".*");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
