// SPDX-License-Identifier: Apache-2.0
/** doctorText describes a diagnosis for people: the findings, then the results by kind. */
import type { Diagnosis, ObjectResult } from "../diagnosis/diagnose.ts";
import { countChains, findingChains, someOf, type FindingChain } from "../diagnosis/finding-chains.ts";
import type { TextStyle } from "../terminal.ts";
import { printable, table, wrap } from "../text.ts";

/** The text ends with a newline. */
export function doctorText(diagnosis: Diagnosis, style: TextStyle): string {
  const findings = findingChains(diagnosis.findings).map((chain) => findingText(chain, style));
  return [...findings, resultsTable(diagnosis), `${diagnosisSummary(diagnosis)}\n`].join("\n");
}

function findingText({ first, objects, consequences }: FindingChain, style: TextStyle): string {
  const { code, severity, field, message, evidence, cause, next } = first;
  const { width } = style;
  const head = `${severity} ${code}`;
  const coloured = { error: style.red(head), warning: style.yellow(head), info: style.bold(head) }[severity];
  const place = field === undefined ? "" : `: ${field}`;
  return [
    `${coloured}  ${printable(someOf(objects))}${place}`,
    ...wrap(printable(message), width - 2).map((line) => `  ${line}`),
    ...evidence.flatMap((line) => bullet(printable(line), width)),
    ...labelled("Cause:", cause, width),
    `  Next:  ${next}`,
    ...consequences.flatMap((line) =>
      wrap(printable(line), width - 6).map((part, at) => `  ${at === 0 ? "└ " : "  "}${part}`),
    ),
    "",
  ].join("\n");
}

function bullet(text: string, width: number): readonly string[] {
  return wrap(text, width - 4).map((line, index) => `  ${index === 0 ? "-" : " "} ${line}`);
}

function labelled(label: string, text: string, width: number): readonly string[] {
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
  const { error: errors, warning: warnings, info: infos } = countChains(findings);
  const counts = [
    errors === 1 ? "1 error" : `${errors} errors`,
    warnings === 1 ? "1 warning" : `${warnings} warnings`,
    ...(infos === 0 ? [] : [`${infos} in progress`]),
  ];
  return `Doctor: ${counts.join(", ")}.`;
}
