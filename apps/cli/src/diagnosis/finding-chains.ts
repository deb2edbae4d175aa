// SPDX-License-Identifier: Apache-2.0
/** findingChains puts a cause together with its consequences, and equal findings about several objects. */
import type { Severity } from "./finding-catalogue.ts";
import type { Finding } from "./finding.ts";
import { labelOf } from "../json.ts";

/** One cause for people to look at. */
export interface FindingChain {
  /** The cause, or the first of several equal ones. */
  readonly first: Finding;
  /** The most severe of the cause and its consequences. */
  readonly severity: Severity;
  /** Labels of the objects with the cause. */
  readonly objects: readonly string[];
  /** "error NodesFailed SriovNetworkNodePolicy/ns/fast: 1 node failed", with equal ones about several objects in one line. */
  readonly consequences: readonly string[];
}

/** Objects that are named of equal findings. */
const maxNamed = 4;

/** `findings` as a Diagnosis has them: consequences behind their cause. */
export function findingChains(findings: readonly Finding[]): readonly FindingChain[] {
  const chains: Finding[][] = [];
  for (const finding of findings) {
    if (finding.causedBy === undefined) chains.push([finding]);
    else chains.at(-1)?.push(finding);
  }
  // A cause with consequences is about one object, and stays alone.
  const groups = Map.groupBy(chains, ([first, ...others]) => (others.length > 0 ? first : keyOf(first)));
  return [...groups.values()].flatMap((same): readonly FindingChain[] => {
    const [[first, ...others] = []] = same;
    if (first === undefined) return [];
    return [
      {
        first,
        severity: order.find((severity) => [first, ...others].some((each) => each.severity === severity)) ?? "info",
        objects: same.flatMap(([each]) => (each === undefined ? [] : [labelOf(each.object)])),
        consequences: consequencesOf(others),
      },
    ];
  });
}

/** The number of chains by severity. A cause and what it explains count as one. */
export function countChains(findings: readonly Finding[]): Readonly<Record<Severity, number>> {
  const chains = findingChains(findings);
  const count = (severity: Severity) => chains.filter((chain) => chain.severity === severity).length;
  return { error: count("error"), warning: count("warning"), info: count("info") };
}

const order: readonly Severity[] = ["error", "warning", "info"];

function consequencesOf(findings: readonly Finding[]): readonly string[] {
  return [...Map.groupBy(findings, keyOf).values()].map((same) => {
    const [{ severity, code, message } = { severity: "info", code: "", message: "" }] = same;
    return `${severity} ${code} ${someOf(same.map(({ object }) => labelOf(object)))}: ${message}`;
  });
}

/** Equal for findings that say the same of several objects. Evidence tells them apart, as each has its own. */
function keyOf(finding: Finding | undefined): string {
  const { severity, code, field, message, object, evidence } = finding ?? {};
  return JSON.stringify([severity, code, field, message, object?.kind, evidence]);
}

/** "Node/a, Node/b". Of many, the first ones and their number. */
export function someOf(labels: readonly string[]): string {
  const more = labels.length - maxNamed;
  return (more <= 1 ? labels : [...labels.slice(0, maxNamed), `and ${more} more`]).join(", ");
}
