// SPDX-License-Identifier: Apache-2.0
/** valuesPage returns docs/reference/chart-values.md, and chartReadme the README of the chart. */
import { code, table } from "../markdown.ts";
import { leaves } from "./render-values.ts";
import type { ChartFacts } from "./chart-manifest.ts";
import type { Group, Value } from "./value-tree.ts";
import { chartValues } from "./values.ts";

export function valuesPage(): string {
  return [
    "# Values of the Helm chart",
    "Values with the names of the values of the Go operator's chart have the same meaning " +
      "([row by row](upstream-values.md)). `values.schema.json` rejects wrong types. Unknown values have no effect, and the " +
      "notes that Helm prints after an installation or upgrade name them.",
    ...sections("##"),
  ].join("\n\n");
}

export function chartReadme({ version, repository }: Pick<ChartFacts, "repository" | "version">): string {
  const docs = `${repository}/blob/v${version}/docs`;
  return [
    "# Helm chart of Switchyard",
    "Kubernetes operators for accelerated node networking: SR-IOV, software bridges, and more. The chart replaces the " +
      "chart of the Go SR-IOV network operator: values and object names are the same.",
    `The [installation guide](${docs}/guide/install.md), the [upgrade guide](${docs}/guide/upgrade.md) and the page about ` +
      `[Argo CD and Flux](${docs}/guide/gitops.md) show how to use it. ` +
      "It needs Kubernetes 1.30 or later, and Helm 3.17 or later.",
    "`values.yaml`, `values.schema.json`, this page, the operator's rules and the CRDs are generated: `npm run generate`.",
    "## Custom resource definitions",
    "The CRDs are in `crds/`. Helm installs them once and never upgrades or deletes them. A Job of the chart, which Helm " +
      "runs before each installation and upgrade, applies those of the release (`crds.enabled`). Argo CD applies `crds/` " +
      "at each synchronization and runs the Job as well. Flux runs the Job; `upgrade.crds: CreateReplace` is not needed. " +
      "With `crds.enabled: false`, apply `crds/` yourself before each upgrade. With `crds.keep: false`, another Job deletes " +
      "the CRDs after the chart has been uninstalled.",
    "The CRD of NetworkAttachmentDefinitions is created if it does not exist, and stays when the chart is uninstalled " +
      "(`crds.networkAttachmentDefinition`). If another Argo CD application contains it, set the value to `false`.",
    "## Values",
    ...sections("###"),
  ].join("\n\n");
}

/** The single values at the top, and a section with a heading of this level for each group. */
function sections(level: string): readonly string[] {
  const nodes = Object.entries(chartValues.values);
  const single = nodes.flatMap(([key, node]) => (node.node === "value" ? [{ path: [key], leaf: node }] : []));
  const groups = nodes.flatMap(([key, node]) => (node.node === "group" ? sectionOf(level, key, node) : []));
  return [rows(single), ...groups];
}

function sectionOf(level: string, key: string, group: Group): readonly string[] {
  return [`${level} \`${key}\``, group.help, rows(leaves(group, [key]))];
}

function rows(values: readonly { readonly path: readonly string[]; readonly leaf: Value }[]): string {
  return table(
    ["Value", "Type", "Default", "Meaning"],
    values.map(({ path, leaf }) => [code(path.join(".")), leaf.type, defaultOf(leaf), leaf.help]),
  );
}

/** Most characters of a default in the table. */
const longestDefault = 100;

function defaultOf(leaf: Value): string {
  if (leaf.default === null || leaf.default === "") return "";
  const text = typeof leaf.default === "string" ? leaf.default : JSON.stringify(leaf.default);
  return text.length > longestDefault ? `in ${code("values.yaml")}` : code(text);
}
