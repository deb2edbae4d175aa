// SPDX-License-Identifier: Apache-2.0
/** buildReport makes the page's content from what the commands find. The same input gives the same report. */
import { productVersion } from "@switchyard/service/version";
import { summarize, type PrintedNodePlan } from "../cluster/plan-cluster.ts";
import type { Diagnosis } from "../diagnosis/diagnose.ts";
import type { VfRow } from "../diagnosis/list-vfs.ts";
import type { Snapshot } from "../diagnosis/snapshot.ts";
import { countsOfResults, diagnosisSummary } from "../output/doctor-text.ts";
import { summaryText } from "../output/plan-text.ts";
import type { Verification } from "../verify/verify-network.ts";
import { summaryOfChecks } from "../verify/verify-text.ts";
import { textStyleOf } from "../terminal.ts";
import { pageText } from "../text.ts";
import { findingGroups } from "./finding-groups.ts";
import { nodeViews } from "./node-views.ts";
import { allColumns, mergedColumns } from "./pf-views.ts";
import { planGroups } from "./plan-groups.ts";
import { renderPage } from "./render-page.ts";
import type { LabeledValue, Report } from "./report.ts";
import { verificationViews } from "./verification-views.ts";

export interface ReportParts {
  readonly command: "doctor" | "plan" | "verify" | "vfs";
  /** The VFs to show. */
  readonly rows: readonly VfRow[];
  readonly diagnosis?: Diagnosis;
  readonly plans?: readonly PrintedNodePlan[];
  /** What nodes cannot apply, a line each. */
  readonly problems?: readonly string[];
  readonly verifications?: readonly Verification[];
  /** The only node to show. */
  readonly node?: string | undefined;
}

const titles = { doctor: "Diagnosis", plan: "Plan", verify: "Verification", vfs: "VFs" };

/** The page of vfs has a row for each VF, and only PFs of `rows`. */
export function buildReport(snapshot: Snapshot, parts: ReportParts): Report {
  const { command, rows, diagnosis, plans, problems = [], verifications, node } = parts;
  const isList = command === "vfs";
  const columns = isList ? allColumns : mergedColumns;
  const nodes = nodeViews(snapshot, {
    rows,
    columns,
    isEmptyShown: !isList,
    ...(diagnosis !== undefined && { results: diagnosis.results }),
  }).filter(({ name }) => node === undefined || name === node);
  return {
    title: snapshot.source === undefined ? titles[command] : `${titles[command]} of ${pageText(snapshot.source.name)}`,
    summary: summaryOf(parts, nodes.length),
    facts: factsOf(snapshot, command),
    ...(diagnosis !== undefined && {
      findings: findingGroups(diagnosis.findings),
      results: countsOfResults(diagnosis),
    }),
    ...(plans !== undefined && { plans: planGroups(plans), problems: problems.map(pageText) }),
    ...(verifications !== undefined && { verifications: verificationViews(verifications) }),
    columns: columns.map(({ head }) => head),
    nodes,
  };
}

function summaryOf({ command, rows, diagnosis, plans = [], verifications }: ReportParts, nodes: number): string {
  if (verifications !== undefined) return summaryOfChecks(verifications.flatMap(({ checks }) => checks));
  if (diagnosis !== undefined && command === "doctor") return diagnosisSummary(diagnosis);
  if (command === "plan") return summaryText(summarize(plans), plain).trim();
  const inPods = rows.filter(({ pod }) => pod !== undefined).length;
  const vfs = nodes === 1 ? `${rows.length} VFs on 1 node` : `${rows.length} VFs on ${nodes} nodes`;
  return `${vfs}, ${inPods} of them in known pods.`;
}

const plain = textStyleOf({ write: () => undefined }, {});

function factsOf({ namespace, takenAtMs, isClock, source }: Snapshot, command: string): readonly LabeledValue[] {
  return [
    { label: "Made by", value: `switchyard ${command} ${productVersion}` },
    ...(source?.server ? [{ label: "Server", value: pageText(source.server) }] : []),
    ...(source?.version ? [{ label: "Kubernetes", value: pageText(source.version) }] : []),
    { label: "Operator's namespace", value: pageText(namespace) },
    ...(takenAtMs === 0
      ? []
      : [{ label: isClock ? "Read at" : "Latest time in the objects", value: new Date(takenAtMs).toISOString() }]),
  ];
}

/** The page of a command, as one HTML file. Commands load this module with `-o html` only. */
export function makePage(snapshot: Snapshot, parts: ReportParts): string {
  return renderPage(buildReport(snapshot, parts));
}
