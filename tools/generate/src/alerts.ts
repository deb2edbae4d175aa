// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the alerting rules of a Prometheus rule file.
 * Usage: `const names = alertsIn(readFileSync("charts/switchyard/alerts/switchyard.yaml", "utf8")).map(({ alert }) => alert)`.
 */
import { parse } from "yaml";

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

/** All alerts, in the order of the file; recording rules are left out. */
export function alertsIn(source: string): readonly Alert[] {
  const { groups } = parse(source) as RuleFile;
  return groups.flatMap(({ name, rules }) =>
    rules.filter(({ alert }) => typeof alert === "string").map((rule) => ({ ...rule, group: name })),
  );
}
