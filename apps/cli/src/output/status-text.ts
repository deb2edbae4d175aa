// SPDX-License-Identifier: Apache-2.0
/** statusText describes a cluster on one screen: what is as it should be takes one line, and the rest is named. */
import { clusterText } from "../diagnosis/snapshot.ts";
import type { ClusterStatus } from "../status/cluster-status.ts";
import type { TextStyle } from "../terminal.ts";
import { printable, table } from "../text.ts";

/** Nodes, networks and policies that are named at most, so that the text stays on a screen. */
const maxNamed = 8;
const maxMessage = 100;

/** The text ends with a newline. */
export function statusText(status: ClusterStatus, style: TextStyle): string {
  const blocks = [
    head(status),
    components(status),
    nodes(status, style),
    policies(status),
    networks(status, style),
    resources(status),
    findings(status, style),
  ];
  return blocks.filter((block) => block !== "").join("\n");
}

function head({ cluster, namespace }: ClusterStatus): string {
  const place = `Operator's namespace: ${namespace}`;
  return `${printable(cluster === undefined ? place : `${place}, ${clusterText(cluster)}`)}\n`;
}

function components({ components: all }: ClusterStatus): string {
  const rows = all.map(({ kind, name, ready, wanted }) => [name, kind, `${ready}/${wanted}`]);
  return rows.length === 0 ? "" : shown([["COMPONENT", "KIND", "READY"], ...rows]);
}

function nodes(
  { nodes: { configured, changing, failed, silent }, unfinishedNodes }: ClusterStatus,
  style: TextStyle,
): string {
  const all = configured + changing + failed + silent;
  if (all === 0) return "Nodes: none has a node state.\n";
  const counts = [
    ...[`${configured} configured`, ...(changing > 0 ? [`${changing} changing`] : [])],
    ...(failed > 0 ? [style.red(`${failed} failed`)] : []),
    ...(silent > 0 ? [style.yellow(`${silent} without a report`)] : []),
  ];
  const lines = unfinishedNodes.map(({ name, state, reason }) => [`  ${name}`, state, cut(reason)]);
  return `Nodes: ${counts.join(", ")}.\n${limited(lines)}`;
}

function policies({ policies: all }: ClusterStatus): string {
  if (all.length === 0) return "Policies: none.\n";
  const rows = all.map(({ policy, resource, matchedNodes, readyNodes, ready, message }) => [
    ...[policy, resource, `${readyNodes}/${matchedNodes}`, ready, cut(message)],
  ]);
  return shown([
    ["POLICY", "RESOURCE", "NODES", "READY", "REASON"],
    ...rows.map((row) => row.map((cell) => cell || "-")),
  ]);
}

function networks({ networks: { ready, notReady } }: ClusterStatus, style: TextStyle): string {
  if (ready + notReady.length === 0) return "Networks: none.\n";
  const bad = notReady.length === 0 ? "" : `, ${style.red(`${notReady.length} not ready`)}`;
  return `Networks: ${ready} ready${bad}.\n${limited(notReady.map(({ object, message }) => [`  ${object}`, cut(message)]))}`;
}

function resources({ resources: all }: ClusterStatus): string {
  const rows = all.map(({ resource, vfs, inPods, perhapsInPods, nodes: on }) => [
    ...[resource, `${vfs}`, `${inPods}${perhapsInPods === 0 ? "" : ` (perhaps ${inPods + perhapsInPods})`}`, `${on}`],
  ]);
  return rows.length === 0 ? "" : shown([["RESOURCE", "VFS", "IN PODS", "NODES"], ...rows]);
}

function findings({ findings: { errors, warnings } }: ClusterStatus, style: TextStyle): string {
  if (errors + warnings === 0) return `${style.green("Nothing is wrong that switchyard doctor can find.")}\n`;
  const counts = [
    ...(errors === 0 ? [] : [style.red(errors === 1 ? "1 error" : `${errors} errors`)]),
    ...(warnings === 0 ? [] : [style.yellow(warnings === 1 ? "1 warning" : `${warnings} warnings`)]),
  ];
  return `${counts.join(", ")}: run switchyard doctor for causes and next steps.\n`;
}

function limited(lines: readonly (readonly string[])[]): string {
  if (lines.length === 0) return "";
  const rest = lines.length - maxNamed;
  return `${shown(lines.slice(0, maxNamed))}${rest > 0 ? `  and ${rest} more\n` : ""}`;
}

function shown(rows: readonly (readonly string[])[]): string {
  return table(rows.map((row) => row.map(printable)));
}

function cut(text: string): string {
  return text.length <= maxMessage ? text : `${text.slice(0, maxMessage)} …`;
}
