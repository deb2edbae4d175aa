// SPDX-License-Identifier: Apache-2.0
/** `switchyard render` prints the objects that the operator and ovn-offload would write. */
import { CliError } from "../cli-error.ts";
import { collectObjects } from "../cluster/cluster-objects.ts";
import { compareRendered, renderCluster, renderedKinds } from "../cluster/render-cluster.ts";
import { deployedKinds, renderDeployment } from "../cluster/render-deployment.ts";
import { createDiagnostics } from "../diagnostics.ts";
import { labelOf } from "../input/manifest.ts";
import { readInput } from "../input/read-input.ts";
import { offloadCluster } from "../ovn-offload/offload-cluster.ts";
import { offloadKinds, renderOffload } from "../ovn-offload/render-offload.ts";
import { printData } from "../output/print-data.ts";
import { toYaml } from "../output/to-yaml.ts";
import type { RunVerb } from "../verb.ts";

export const render: RunVerb = async ({ flags, terminal }) => {
  const { namespace, resourcePrefix, clusterType, output = "yaml" } = flags;
  const kinds = [...new Set([...renderedKinds, ...offloadKinds, ...(flags.manifests ? deployedKinds : [])])].sort();
  const unknown = flags.only.find((kind) => !kinds.includes(kind));
  if (unknown !== undefined) {
    const hint = deployedKinds.includes(unknown) ? `; ${unknown} requires --manifests` : "";
    throw new CliError("usage", `--only: "${unknown}" must be one of ${kinds.join(", ")}${hint}`);
  }
  const diagnostics = createDiagnostics(terminal.stderr);
  const given = collectObjects(await readInput(flags, terminal, diagnostics), { namespace, diagnostics });
  const common = { namespace, resourcePrefix, diagnostics };
  const { cluster, offload } = offloadCluster(given, { ...common, clusterType });
  const deployment = flags.manifests ? renderDeployment(cluster, { ...common, clusterType, env: terminal.env }) : [];
  const offloaded = offload === undefined ? [] : renderOffload(offload, cluster, common);
  const rendered = [...renderCluster(cluster, common), ...offloaded, ...deployment].sort(compareRendered);
  const items = rendered.filter(({ kind }) => flags.only.length === 0 || flags.only.includes(kind));

  if (output === "json") printData({ apiVersion: "v1", kind: "List", items }, output, terminal.stdout);
  else if (output === "yaml") terminal.stdout.write(items.map((item) => toYaml(item)).join("---\n"));
  else terminal.stdout.write(items.map(({ kind, metadata }) => `${labelOf({ kind, ...metadata })}\n`).join(""));
  return diagnostics.exitCode();
};
