// SPDX-License-Identifier: Apache-2.0
/**
 * runBench runs one benchmark: it parses the command line, measures, prints the report and compares it with the goals.
 * Each benchmark has the same three files: <name>-options.ts, measure-<name>.ts and <name>-report.ts.
 */
import { writeFile } from "node:fs/promises";
import { BenchError } from "./run-control.ts";
import { describeGoal, missedGoals, type Goal } from "./goal.ts";
import type { MachineDescription } from "./machine.ts";

/** The options of every benchmark. */
export interface BenchOptions {
  /** Path of a file that the report is also written to, as JSON. */
  readonly json: string | undefined;
  /** Whether a missed goal fails the run. */
  readonly check: boolean;
}

/** The members of every report. `--json` writes the whole report. */
export interface BenchReport {
  /** Name of the benchmark. */
  readonly bench: string;
  /** Start of the run, RFC 3339. */
  readonly date: string;
  readonly machine: MachineDescription;
  readonly goals: readonly Goal[];
}

/** A benchmark. */
export interface Bench<Options extends BenchOptions, Report extends BenchReport> {
  readonly help: string;
  /** Returns "help" for --help. Throws BenchError `usage`. */
  readonly parse: (args: readonly string[]) => Options | "help";
  readonly measure: (options: Options) => Promise<Report>;
  readonly render: (report: Report) => string;
}

/** Rejects with BenchError: `goals` if a goal is missed and --check was given, other codes if the measurement fails. */
export async function runBench<Options extends BenchOptions, Report extends BenchReport>(
  { help, parse, measure, render }: Bench<Options, Report>,
  args: readonly string[],
): Promise<void> {
  const options = parse(args);
  if (options === "help") {
    process.stdout.write(help);
    return;
  }
  const report = await measure(options);
  process.stdout.write(render(report));
  if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`);
  const missed = missedGoals(report.goals);
  if (options.check && missed.length > 0) {
    throw new BenchError("goals", `${missed.length} goals missed:\n${missed.map(describeGoal).join("\n")}`);
  }
}
