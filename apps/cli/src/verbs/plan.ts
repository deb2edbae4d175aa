// SPDX-License-Identifier: Apache-2.0
/** `switchyard plan` prints the steps of the nodes and their impact on pods. */
import { drainRequests } from "@switchyard/api";
import { CliError, textStyleOf, createDiagnostics, exitCodes, type Diagnostics, type Terminal } from "../terminal.ts";
import { collectObjects } from "../cluster/cluster-objects.ts";
import { podsIn, withPods, type PlacedPods } from "../cluster/evicted-pods.ts";
import { summarize, type PlannedNode } from "../cluster/plan-cluster.ts";
import { listVfs } from "../diagnosis/list-vfs.ts";
import { createSnapshot } from "../diagnosis/snapshot.ts";
import type { Flags } from "../flags.ts";
import { withCurrentContext } from "../input/current-context.ts";
import { isLive, readInput, readLivePodsOn } from "../input/read-input.ts";
import { planOffloaded } from "../ovn-offload/plan-offloaded.ts";
import { printData } from "../output/to-yaml.ts";
import { planText, summaryText } from "../output/plan-text.ts";
import type { RunVerb } from "../verb.ts";

export const planNodes: RunVerb = async ({ flags: asked, terminal }) => {
  const diagnostics = createDiagnostics(terminal.stderr);
  const flags = await withCurrentContext(asked, terminal, diagnostics);
  const { namespace, resourcePrefix, node, pageOutput: output = "text" } = flags;
  const manifests = await readInput(flags, terminal, diagnostics);
  const given = collectObjects(manifests, { namespace, diagnostics });
  const problems: string[] = [];
  const planned = planOffloaded(given, flags, {
    ...diagnostics,
    report(line) {
      problems.push(line);
      diagnostics.report(line);
    },
  });
  const placed = isLive(flags) ? await podsOn(planned, flags, terminal, diagnostics) : podsIn(given, resourcePrefix);
  const plans = withPods(planned, given, placed);
  const summary = summarize(plans);

  const [only] = plans;
  if (node !== undefined && only === undefined) {
    throw new CliError("unavailable", `no plan for node "${node}": it is not in the input or not in the node set`);
  }
  if (plans.length === 0 && !isLive(flags)) {
    const command = "kubectl get nodes,sriovnetworknodestates,sriovoperatorconfigs -A -o yaml";
    diagnostics.report(`nothing to plan: the input has no node of the node set; ${command} prints those of a cluster`);
  }
  if (output === "text") {
    const style = textStyleOf(terminal.stdout, terminal.env);
    const parts = plans.map((plan) => planText(plan, style));
    if (node === undefined) parts.push(summaryText(summary, style));
    terminal.stdout.write(parts.join("\n"));
  } else if (output === "html") {
    const { makePage } = await import("../report/build-report.ts");
    const source = isLive(flags) ? { name: flags.context ?? flags.kubeconfig ?? "" } : undefined;
    const snapshot = createSnapshot(manifests, given, { namespace, resourcePrefix, source });
    terminal.stdout.write(makePage(snapshot, { command: "plan", rows: listVfs(snapshot), plans, problems, node }));
  } else {
    printData(node === undefined ? { nodes: plans, summary } : only, output, terminal.stdout);
  }
  const exitCode = diagnostics.exitCode();
  return exitCode === exitCodes.done && flags.detailedExitcode && summary.steps + summary.reboot > 0
    ? exitCodes.changes
    : exitCode;
};

/** The pods of nodes whose plan disrupts pods. */
async function podsOn(
  planned: readonly PlannedNode[],
  flags: Flags,
  terminal: Terminal,
  diagnostics: Diagnostics,
): Promise<PlacedPods | undefined> {
  const disrupting = planned.filter(({ plan }) => plan.impact !== "none");
  const nodes = new Map(disrupting.map(({ plan, drain }) => [plan.node, drain === drainRequests.reboot]));
  const placed = await readLivePodsOn(flags, terminal, nodes);
  if (placed === undefined)
    diagnostics.note("you are not allowed to list pods, so the plan does not name those that are evicted");
  return placed;
}
