// SPDX-License-Identifier: Apache-2.0
/** `switchyard render`: what the operator would write. */
import { CliError } from "../cli-error.ts";
import { collectObjects } from "../cluster/cluster-objects.ts";
import { renderCluster, renderedKinds } from "../cluster/render-cluster.ts";
import { createDiagnostics } from "../diagnostics.ts";
import { labelOf } from "../input/manifest.ts";
import { readInput } from "../input/read-input.ts";
import { printData } from "../output/print-data.ts";
import { toYaml } from "../output/to-yaml.ts";
import type { RunVerb } from "../verb.ts";

export const render: RunVerb = async ({ flags, terminal }) => {
  const { namespace, resourcePrefix, output = "yaml" } = flags;
  const stranger = flags.only.find((kind) => !renderedKinds.includes(kind));
  if (stranger !== undefined) {
    throw new CliError("usage", `--only: "${stranger}" is none of ${renderedKinds.join(", ")}`);
  }
  const diagnostics = createDiagnostics(terminal.stderr);
  const cluster = collectObjects(await readInput(flags, terminal, diagnostics), { namespace, diagnostics });
  const rendered = renderCluster(cluster, { namespace, resourcePrefix, diagnostics });
  const items = rendered.filter(({ kind }) => flags.only.length === 0 || flags.only.includes(kind));

  if (output === "json") printData({ apiVersion: "v1", kind: "List", items }, output, terminal.stdout);
  else if (output === "yaml") terminal.stdout.write(items.map((item) => toYaml(item)).join("---\n"));
  else terminal.stdout.write(items.map(({ kind, metadata }) => `${labelOf({ kind, ...metadata })}\n`).join(""));
  return diagnostics.exitCode();
};
