// SPDX-License-Identifier: Apache-2.0
/** Builders for the tests of scenarios. */
import { parseOptions, type OptionSpecs } from "./options.ts";
import { missedLines } from "./report.ts";
import type { RequestCount } from "./requests.ts";
import { renderReport, type CommonFigures, type Scenario } from "./scenario.ts";
import type { Cost, StepKind, StepResult } from "./step.ts";

/** The goals that these figures miss with the options of a command line, as in the report. */
export function missedBy<Specs extends OptionSpecs, Figures extends CommonFigures>(
  scenario: Scenario<Specs, Figures>,
  figures: Figures,
  args: readonly string[] = [],
): readonly string[] {
  return missedLines(scenario.goals(figures, optionsOf(scenario, args)));
}

/** The lines of the report about a run on "a machine". */
export function reportOf<Specs extends OptionSpecs, Figures extends CommonFigures>(
  scenario: Scenario<Specs, Figures>,
  figures: Figures,
  args: readonly string[] = [],
): readonly string[] {
  const about = { date: "2026-11-20T00:00:00.000Z", machine: "a machine" };
  return renderReport(scenario, about, { figures, options: optionsOf(scenario, args) }).split("\n");
}

/** The cells of the first row of a report that begins with `title`. */
export function cellsOf(lines: readonly string[], title: string): readonly string[] {
  const row = lines.find((line) => line.startsWith(`| ${title}`)) ?? "";
  return row
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** The options of a command line, with the limits of the scenario. */
export function optionsOf<Specs extends OptionSpecs>(
  { options, limit }: Pick<Scenario<Specs, CommonFigures>, "options" | "limit">,
  args: readonly string[] = [],
) {
  const parsed = parseOptions(args, options);
  if (parsed === "help") throw new Error("the arguments ask for help");
  return limit?.(parsed.options) ?? parsed.options;
}

/** Counts of these writes only. */
export function onlyWrites(writes: Readonly<Record<string, number>>): RequestCount {
  return { writes, reads: {}, failed: {} };
}

/** A cost that meets all goals. */
export const smallCost: Cost = {
  cpuSeconds: 0.01,
  childFaults: 0,
  rssMb: 60,
  peakMb: 60,
  requests: onlyWrites({ "update leases": 2 }),
};

/** The result of a step that wrote nothing. */
export function stepOf(kind: StepKind, more: Partial<StepResult> = {}): StepResult {
  return { kind, round: 1, bytes: 0, load: { ownSeconds: 1, othersBusy: 0 }, ...smallCost, ...more };
}
