// SPDX-License-Identifier: Apache-2.0
/** A scenario is one benchmark: what is run, its figures, its goals and its report. defineScenario makes its command. */
import { writeFile } from "node:fs/promises";
import { atMost, complaintLines, missedLines, type Goal } from "./report.ts";
import { describeMachine } from "./proc.ts";
import { commonOptions, describeOptions, parseOptions, type Options, type OptionSpecs } from "./options.ts";
import { BenchError, startRun, type Run } from "./run.ts";

/** What every scenario returns beside its own figures. */
export interface CommonFigures {
  /** Versions of programs that are not measured, by name. */
  readonly versions: Readonly<Record<string, string>>;
  /** Warnings and errors in the log of the measured program. None are expected. */
  readonly complaints?: readonly string[];
  /** Seconds from SIGTERM to the end of each process. */
  readonly stopSeconds?: readonly number[];
}

export interface Scenario<Specs extends OptionSpecs, Figures extends CommonFigures> {
  readonly name: string;
  /** What is measured. */
  readonly summary: string;
  /** What it is compared with in the same run. */
  readonly baseline: string;
  readonly options: Specs;
  /** Limits options by others. Throws BenchError `usage` if they contradict each other. */
  readonly limit?: (options: Options<Specs>) => Options<Specs>;
  /** Rejects with BenchError if the measurement fails. */
  readonly measure: (options: Options<Specs>, run: Run) => Promise<Figures>;
  /** Compares figures with limits. Pure. */
  readonly goals: (figures: Figures, options: Options<Specs>) => readonly Goal[];
  /** The lines of the report, without those that all reports have; the first is the title. Pure. */
  readonly render: (figures: Figures, options: Options<Specs>) => readonly string[];
}

/** When and where a run took place. */
export interface RunDescription {
  /** Start of the run, RFC 3339. */
  readonly date: string;
  readonly machine: string;
}

/** A scenario as a command. */
export interface ScenarioCommand {
  /** Measures, and prints the report. Rejects with BenchError `goals` if a goal is missed and --check was given. */
  readonly command: (args: readonly string[]) => Promise<void>;
}

/** Adds the command and the goal that all services end within 10 s after SIGTERM. */
export function defineScenario<const Specs extends OptionSpecs, Figures extends CommonFigures>(
  own: Scenario<Specs, Figures>,
): Scenario<Specs, Figures> & ScenarioCommand {
  const goals = (figures: Figures, options: Options<Specs>) => {
    const { stopSeconds } = figures;
    const stops = stopSeconds === undefined ? [] : [atMost("end after SIGTERM", Math.max(...stopSeconds), 10, "s")];
    return [...own.goals(figures, options), ...stops];
  };
  const scenario = { ...own, goals };
  return { ...scenario, command: (args) => runScenario(scenario, args) };
}

/** The whole text of the report. Pure. */
export function renderReport<Specs extends OptionSpecs, Figures extends CommonFigures>(
  { render, goals }: Pick<Scenario<Specs, Figures>, "goals" | "render">,
  { date, machine }: RunDescription,
  { figures, options }: { readonly figures: Figures; readonly options: Options<Specs> },
): string {
  const [title = "", ...lines] = render(figures, options);
  const programs = Object.entries(figures.versions).map(([name, version]) => `${name} ${version}`);
  const all = goals(figures, options);
  const missed = missedLines(all);
  return [
    `${title}; ${date}`,
    programs.length === 0 ? machine : `${machine}; ${programs.join(", ")}`,
    ...lines,
    "",
    `${all.length - missed.length} of ${all.length} goals met`,
    ...missed.map((line) => `  missed: ${line}`),
    ...complaintLines(figures.complaints ?? []),
    "",
  ].join("\n");
}

async function runScenario<Specs extends OptionSpecs, Figures extends CommonFigures>(
  scenario: Scenario<Specs, Figures>,
  args: readonly string[],
): Promise<void> {
  const { name, summary, baseline, options: specs, measure } = scenario;
  const parsed = parseOptions(args, specs);
  if (parsed === "help") {
    const about = `Measures ${summary}.\nThe baseline is ${baseline}.`;
    const options = describeOptions({ ...specs, ...commonOptions });
    process.stdout.write(`npm run bench -- ${name} [options]\n\n${about}\n\n${options}`);
    return;
  }
  const options = scenario.limit?.(parsed.options) ?? parsed.options;
  const facts = { date: new Date().toISOString(), machine: describeMachine() };
  await using run = startRun();
  const figures = await measure(options, run);
  run.progress[Symbol.dispose]();
  process.stdout.write(renderReport(scenario, facts, { figures, options }));
  const goals = scenario.goals(figures, options);
  if (parsed.json !== undefined) {
    const report = { bench: name, ...facts, options, ...figures, goals };
    await writeFile(parsed.json, `${JSON.stringify(report, null, 2)}\n`);
  }
  const missed = missedLines(goals);
  if (parsed.check && missed.length > 0)
    throw new BenchError("goals", `${missed.length} goals missed:\n${missed.join("\n")}`);
}
