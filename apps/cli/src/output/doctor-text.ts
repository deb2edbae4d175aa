// SPDX-License-Identifier: Apache-2.0
/** doctorText describes a diagnosis for people: the findings, then the results by kind. */
import type { Diagnosis, ObjectResult } from "../diagnosis/diagnose.ts";
import type { Severity } from "../diagnosis/finding-catalogue.ts";
import type { Finding } from "../diagnosis/finding.ts";
import { labelOf } from "../json.ts";
import type { Colours } from "../terminal.ts";
import { printable, table, wrap } from "../text.ts";

const width = 80;

/** The text ends with a newline. */
export function doctorText(diagnosis: Diagnosis, colours: Colours): string {
  const findings = diagnosis.findings.map((finding) => findingText(finding, colours));
  return [...findings, resultsTable(diagnosis), `${diagnosisSummary(diagnosis)}\n`].join("\n");
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
function resultsTable(diagnosis: Diagnosis): string {
  const rows = countsOfResults(diagnosis).map(({ kind, healthy, info, warning, error }) => [
    ...[kind, `${healthy}`, `${info}`, `${warning}`, `${error}`],
  ]);
  return table([["KIND", "HEALTHY", "INFO", "WARNING", "ERROR"], ...rows]);
}

/** The number of objects of a kind by result. */
export interface ResultCounts extends Readonly<Record<ObjectResult["result"], number>> {
  readonly kind: string;
}

/** Kinds in alphabetical order. */
export function countsOfResults({ results }: Diagnosis): readonly ResultCounts[] {
  return [...Map.groupBy(results, ({ object }) => object.kind)].map(([kind, same]) => {
    const count = (wanted: ObjectResult["result"]) => same.filter(({ result }) => result === wanted).length;
    return { kind, healthy: count("healthy"), info: count("info"), warning: count("warning"), error: count("error") };
  });
}

/** "Doctor: 1 error, 2 warnings." */
export function diagnosisSummary({ findings }: Diagnosis): string {
  const count = (severity: Severity) => findings.filter((finding) => finding.severity === severity).length;
  const [errors, warnings, infos] = [count("error"), count("warning"), count("info")];
  const counts = [
    errors === 1 ? "1 error" : `${errors} errors`,
    warnings === 1 ? "1 warning" : `${warnings} warnings`,
    ...(infos === 0 ? [] : [`${infos} in progress`]),
  ];
  return `Doctor: ${counts.join(", ")}.`;
}
