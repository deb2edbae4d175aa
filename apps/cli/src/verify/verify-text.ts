// SPDX-License-Identifier: Apache-2.0
/** verifyText prints the result of `switchyard verify`: a table of the checks, then the layers of those that failed. */
import type { TextStyle } from "../terminal.ts";
import { printable, table, wrap } from "../text.ts";
import type { Check, LayerResult, LayerStatus } from "./layers.ts";
import type { Verification } from "./verify-network.ts";

/** Words for the status of a check or a layer. */
export const statusWords: Readonly<Record<LayerStatus, string>> = {
  ok: "ok",
  failed: "failed",
  notChecked: "not checked",
};

export function verifyText(verifications: readonly Verification[], style: TextStyle): string {
  return verifications.map((verification) => networkText(verification, style)).join("\n");
}

function networkText(verification: Verification, style: TextStyle): string {
  const { resource, checks } = verification;
  const head = style.bold(printable(titleOf(verification)));
  if (checks.length === 0) return `${head}\nNo node offers the resource ${printable(resource)}.\n`;
  const rows = checks.map((check) => rowOf(check).map(printable));
  const failures = checks.filter(({ status }) => status === "failed").map((check) => failureText(check, style));
  const tableText = table([tableHeads.map((head) => head.toUpperCase()), ...rows]);
  return [`${head}\n`, tableText, ...failures, `${summaryOfChecks(checks)}\n`].join("\n");
}

/** "SriovNetwork default/fast: resource openshift.io/fast, VLAN 100". */
export function titleOf({ kind, network, resource, vlan }: Verification): string {
  return `${kind} ${network}: resource ${resource}, ${vlan === 0 ? "no VLAN" : `VLAN ${vlan}`}`;
}

/** "w1", "w1 -> w2"; a pair on one node is "w1 -> w1". */
export function placeOf({ node, peerNode }: Check): string {
  return peerNode === undefined ? node : `${node} -> ${peerNode}`;
}

/** Heads of the columns of rowOf. */
export const tableHeads: readonly string[] = ["Nodes", "Result", "Failed layer", "Passed", "Not checked", "Throughput"];

/** The cells of a check in the table. */
export function rowOf(check: Check): readonly string[] {
  const { status, failedLayer, results } = check;
  const throughput = results.find((result) => result.layer === "throughput" && result.status === "ok");
  const passed = results.filter((result) => result.status === "ok").length;
  const left = results.filter((result) => result.status === "notChecked").map(({ layer }) => layer);
  return [
    placeOf(check),
    statusWords[status],
    failedLayer ?? "-",
    `${passed} of ${results.length}`,
    left.length === 0 ? "-" : left.join(", "),
    throughput?.text.replace(/\.$/, "") ?? "-",
  ];
}

function failureText(check: Check, style: TextStyle): string {
  const title = style.bold(`${printable(placeOf(check))}: ${style.red(`failed at ${check.failedLayer ?? ""}`)}`);
  const lines = check.results.filter(({ status }) => status !== "notChecked").map((result) => layerText(result, style));
  return [title, ...lines, ""].join("\n");
}

function layerText({ layer, status, text, next }: LayerResult, style: TextStyle): string {
  const sign = status === "ok" ? style.green("ok    ") : style.red("failed");
  const [first = "", ...more] = wrap(printable(text), style.width - 22);
  const after = next === undefined ? [] : wrap(printable(`Next: ${next}`), style.width - 22);
  const indent = " ".repeat(22);
  return [`  ${sign}  ${layer.padEnd(10)}  ${first}`, ...[...more, ...after].map((line) => `${indent}${line}`)].join(
    "\n",
  );
}

/** "3 checks: 2 ok, 1 failed." */
export function summaryOfChecks(checks: readonly Check[]): string {
  const count = (status: LayerStatus): number => checks.filter((check) => check.status === status).length;
  const parts = (["ok", "failed", "notChecked"] as const)
    .filter((status) => count(status) > 0)
    .map((status) => `${count(status)} ${statusWords[status]}`);
  const counted = checks.length === 1 ? "1 check" : `${checks.length} checks`;
  return `${counted}: ${parts.join(", ")}.`;
}
