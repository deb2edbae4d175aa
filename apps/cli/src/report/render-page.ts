// SPDX-License-Identifier: Apache-2.0
/**
 * renderPage writes a report as one HTML file below 1 MB that needs no network. Nodes with errors are drawn first; when the
 * file is full, the others are tiles of the overview only.
 */
import { Eta } from "eta/core";
import { unexamined } from "./node-views.ts";
import { pageStyle } from "./page-style.ts";
import { pageTemplates } from "./page-templates.ts";
import type { FindingGroup, NodeHealth, NodeView, PlanGroup, Report, VfUse } from "./report.ts";

/** A page is less than 1 MB, so that it can be attached to a ticket. */
const maxBytes = 950_000;
/** What a link to the drawing of a node adds to its tile. */
const linkBytes = 30;
/** Nodes without errors that are unfolded from the start; those with errors always are. */
const maxOpen = 3;
/** Names that a list shows. */
const maxNames = 100;
/** Groups of nodes with the same steps, and steps of a group, that are shown. */
const maxGroups = 50;
const maxSteps = 40;
/** Lines about the pods of a group. */
const maxPodLines = 20;

const signs: Readonly<Record<NodeHealth, string>> = { error: "✕", warning: "!", info: "…", healthy: "✓", unknown: "?" };
const healthWords: Readonly<Record<NodeHealth, string>> = {
  error: "with errors",
  warning: "with warnings",
  info: "in progress",
  healthy: "healthy",
  unknown: "unknown",
};
const impacts = { reboot: "Reboot", drain: "Drain", none: "No pod is disrupted" };
const marks: Readonly<Record<VfUse, string>> = { pod: "p", maybe: "m", free: "f", plain: "n" };

const eta = new Eta({ autoEscape: true, autoTrim: false, cache: true });
for (const [name, template] of Object.entries(pageTemplates)) eta.loadTemplate(`@${name}`, template);

function fill(template: keyof typeof pageTemplates, data: object): string {
  return eta.render(`@${template}`, data);
}

interface Section {
  readonly id: string;
  readonly title: string;
  readonly html: string;
}

export function renderPage(report: Report): string {
  const page = (sections: readonly Section[]) => fill("page", { report, style: pageStyle, sections });
  const undrawn = Buffer.byteLength(page(textSections(report, new Map())));
  const { html, drawn } = drawCards(report, maxBytes - undrawn - linkBytes * report.nodes.length);
  const ids = new Map(drawn.map(({ name }, at) => [name, `node-${at}`]));
  const cards = fill("cards", { html, omitted: report.nodes.length - drawn.length });
  return page([
    ...textSections(report, ids),
    ...(drawn.length === 0 ? [] : [{ id: "cards", title: "Cards and VFs", html: cards }]),
  ]);
}

/** `ids` are those of the drawings of nodes. */
function textSections(report: Report, ids: ReadonlyMap<string, string>): readonly Section[] {
  const { findings, plans, problems = [], verifications } = report;
  return [
    ...(findings === undefined
      ? []
      : [{ id: "findings", title: "Findings", html: findingsHtml(findings, ids) + resultsHtml(report) }]),
    ...(plans === undefined ? [] : [{ id: "plan", title: "Plan", html: planHtml(plans, problems) }]),
    ...(verifications === undefined
      ? []
      : [{ id: "checks", title: "Checks", html: fill("verification", { networks: verifications, signs }) }]),
    { id: "fleet", title: "Nodes", html: tilesHtml(report, ids) },
  ];
}

function findingsHtml(groups: readonly FindingGroup[], ids: ReadonlyMap<string, string>): string {
  const views = groups.map((group) => ({
    ...group,
    count: group.findings.length + group.more.length,
    more: listOf(group.more),
    findings: group.findings.map((finding) => ({ ...finding, id: ids.get(finding.node ?? "") })),
  }));
  return fill("findings", { groups: views, signs });
}

function resultsHtml({ results = [] }: Report): string {
  return results.length === 0 ? "" : fill("results", { results });
}

function planHtml(groups: readonly PlanGroup[], problems: readonly string[]): string {
  const views = groups.slice(0, maxGroups).map((group) => {
    const [first = "", ...others] = group.nodes;
    return {
      ...group,
      ...(others.length === 0
        ? { title: first }
        : { title: `${group.nodes.length} nodes`, names: listOf(group.nodes) }),
      steps: group.steps.slice(0, maxSteps),
      moreSteps: Math.max(0, group.steps.length - maxSteps),
      pods: group.pods.slice(0, maxPodLines),
      morePods: Math.max(0, group.pods.length - maxPodLines),
    };
  });
  const more = groups.slice(maxGroups).flatMap(({ nodes }) => nodes);
  const shown = { problems: problems.slice(0, maxNames), moreProblems: Math.max(0, problems.length - maxNames) };
  return fill("plan", { groups: views, more: listOf(more), impacts, signs, ...shown });
}

/** "a, b, and 3 more" */
function listOf(names: readonly string[]): string {
  const more = names.length > maxNames ? `, and ${names.length - maxNames} more` : "";
  return names.slice(0, maxNames).join(", ") + more;
}

function tilesHtml({ nodes, findings }: Report, ids: ReadonlyMap<string, string>): string {
  const words = findings === undefined ? { ...healthWords, healthy: unexamined } : healthWords;
  const counts = Object.entries(words)
    .map(([health, text]) => ({ health, words: text, nodes: nodes.filter((node) => node.health === health).length }))
    .filter((count) => count.nodes > 0);
  return fill("tiles", { nodes: nodes.map((node) => ({ ...node, id: ids.get(node.name) })), counts, signs });
}

/** The drawings of as many nodes as fit. */
function drawCards(
  { nodes, columns }: Report,
  space: number,
): { readonly html: string; readonly drawn: readonly NodeView[] } {
  const parts: string[] = [];
  let bytes = 0;
  for (const [at, node] of nodes.entries()) {
    const isOpen = node.health === "error" || at < maxOpen;
    const html = fill("node", { node, id: `node-${at}`, sign: signs[node.health], isOpen, marks, heads: columns });
    bytes += Buffer.byteLength(html);
    if (bytes > space) break;
    parts.push(html);
  }
  return { html: parts.join(""), drawn: nodes.slice(0, parts.length) };
}
