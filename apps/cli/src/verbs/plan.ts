// SPDX-License-Identifier: Apache-2.0
/** `switchyard plan` prints the steps of the nodes and their impact on pods. */
import { CliError } from "../cli-error.ts";
import { collectObjects } from "../cluster/cluster-objects.ts";
import { planCluster, summarize } from "../cluster/plan-cluster.ts";
import { createDiagnostics } from "../diagnostics.ts";
import { exitCodes } from "../exit-codes.ts";
import { readInput } from "../input/read-input.ts";
import { offloadCluster } from "../ovn-offload/offload-cluster.ts";
import { offloadReboots } from "../ovn-offload/offload-reboots.ts";
import { createColours } from "../output/colours.ts";
import { printData } from "../output/print-data.ts";
import { planText, summaryText } from "../output/plan-text.ts";
import type { RunVerb } from "../verb.ts";

export const planNodes: RunVerb = async ({ flags, terminal }) => {
  const { namespace, resourcePrefix, clusterType, output = "text" } = flags;
  const diagnostics = createDiagnostics(terminal.stderr);
  const given = collectObjects(await readInput(flags, terminal, diagnostics), { namespace, diagnostics });
  const { cluster, offload } = offloadCluster(given, { namespace, resourcePrefix, clusterType, diagnostics });
  const reboots = offloadReboots(offload, cluster);
  const plans = planCluster(cluster, { namespace, diagnostics, reboots, node: flags.node });
  const summary = summarize(plans);

  const [only] = plans;
  if (flags.node !== undefined && only === undefined) {
    throw new CliError(
      "unavailable",
      `no plan for node "${flags.node}": it is not in the input or not in the node set`,
    );
  }
  if (output === "text") {
    const colours = createColours(terminal.stdout, terminal.env);
    const parts = plans.map((plan) => planText(plan, colours));
    if (flags.node === undefined) parts.push(summaryText(summary, colours));
    terminal.stdout.write(parts.join("\n"));
  } else {
    printData(flags.node === undefined ? { nodes: plans, summary } : only, output, terminal.stdout);
  }
  const exitCode = diagnostics.exitCode();
  return exitCode === exitCodes.done && flags.detailedExitcode && summary.steps + summary.reboot > 0
    ? exitCodes.changes
    : exitCode;
};
