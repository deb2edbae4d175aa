// SPDX-License-Identifier: Apache-2.0
/**
 * doctorText describes a diagnosis for people: the findings, then the results by kind.
 * Usage: `terminal.stdout.write(doctorText(diagnosis, colours))`.
 */
import type { Diagnosis } from "../diagnosis/diagnose.ts";
import type { Severity } from "../diagnosis/finding-catalogue.ts";
import type { Finding } from "../diagnosis/finding.ts";
import { labelOf } from "../input/manifest.ts";
import type { Colours } from "./colours.ts";
import { printable } from "./printable.ts";
import { table } from "./table.ts";
import { wrap } from "./wrap.ts";

const width = 80;

/** The text ends with a newline. */
export function doctorText(diagnosis: Diagnosis, colours: Colours): string {
  const findings = diagnosis.findings.map((finding) => findingText(finding, colours));
  return [...findings, resultsTable(diagnosis), `${summary(diagnosis)}\n`].join("\n");
}

function findingText(finding: Finding, colours: Colours): string {
  const { code, severity, object, field, message, evidence, cause, next } = finding;
  const head = `${severity} ${code}`;
  const coloured = { error: colours.red(head), warning: colours.yellow(head), info: colours.bold(head) }[severity];
  const place = field === undefined ? "" : `: ${field}`;
  return [
    `${coloured}  ${printable(labelOf(object))}${place}`,
    ...wrap(printable(message), width - 2).map((line) => `  ${line}`),
    ...evidence.flatMap((line) => bullet(printable(line))),
    ...labelled("Cause:", cause),
    `  Next:  ${next}`,
    "",
  ].join("\n");
}

function bullet(text: string): readonly string[] {
  return wrap(text, width - 4).map((line, index) => `  ${index === 0 ? "-" : " "} ${line}`);
}

function labelled(label: string, text: string): readonly string[] {
  return wrap(text, width - 9).map((line, index) => `  ${index === 0 ? label : "      "} ${line}`);
}

/** A row for each kind, so that 1,000 healthy nodes are one line. */
function resultsTable({ results }: Diagnosis): string {
  const rows = [...Map.groupBy(results, ({ object }) => object.kind)].map(([kind, same]) => [
    kind,
    ...(["healthy", "info", "warning", "error"] as const).map(
      (result) => `${same.filter((one) => one.result === result).length}`,
    ),
  ]);
  return table([["KIND", "HEALTHY", "INFO", "WARNING", "ERROR"], ...rows]);
}

function summary({ findings }: Diagnosis): string {
  const count = (severity: Severity, word: string): string => {
    const { length } = findings.filter((finding) => finding.severity === severity);
    return `${length} ${word}${length === 1 ? "" : "s"}`;
  };
  const counts = [count("error", "error"), count("warning", "warning")].join(", ");
  const infos = findings.filter(({ severity }) => severity === "info").length;
  return `Doctor: ${counts}${infos === 0 ? "" : `, ${infos} in progress`}.`;
}
