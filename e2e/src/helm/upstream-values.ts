// SPDX-License-Identifier: Apache-2.0
/**
 * The values of upstream's chart: those of a chart's directory, and the rows of the table in docs/reference/upstream-values.md, which
 * says what Switchyard's chart makes of each.
 */
import { isRecord } from "@switchyard/kube";
import { findWorkspaceRoot } from "@switchyard/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import type { Values } from "./helm.ts";

/** A row of the table. */
interface UpstreamValueRow {
  /** Such as "operator.resourcePrefix". */
  readonly path: string;
  /** "same", "translated" or "refused". */
  readonly treatment: string;
}

/** Reads the page that users read. */
export async function readUpstreamRows(): Promise<readonly UpstreamValueRow[]> {
  const page = await readFile(join(findWorkspaceRoot(), "docs/reference/upstream-values.md"), "utf8");
  return [...page.matchAll(/^\| `([\w.]+)` \| (\w+) \|/gm)].map(([, path = "", treatment = ""]) => ({
    path,
    treatment,
  }));
}

/** Reads values.yaml in the directory of a chart. Throws TypeError if it is not a map. */
export async function readChartValues(chart: string): Promise<Values> {
  const values: unknown = parse(await readFile(join(chart, "values.yaml"), "utf8"));
  if (!isRecord(values)) throw new TypeError(`${chart}/values.yaml is not a map`);
  return values;
}

/** Returns the paths of all values that are not maps, or are empty maps. The fields of affinity, a part of pods, are no values. */
export function pathsOf(values: unknown, path = ""): readonly string[] {
  if (!isRecord(values) || Object.keys(values).length === 0 || path.endsWith(".affinity")) return [path];
  return Object.entries(values).flatMap(([key, value]) => pathsOf(value, path === "" ? key : `${path}.${key}`));
}
