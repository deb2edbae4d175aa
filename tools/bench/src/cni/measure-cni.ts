// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run bench -- cni`: what it costs to start eve-bridge, which a container runtime does for each interface of each pod.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BenchError } from "../harness/bench-error.ts";
import { prepareForms, type Form } from "./cni-forms.ts";
import { cniHelp, parseCniOptions, type CniOptions } from "./cni-options.ts";
import { buildStockBridge, installPlugin, type InstalledPlugin } from "./cni-plugin.ts";
import { createProgramRunner, readPeakMb, type Program, type ProgramRunner } from "./cni-program.ts";
import { cniGoals, renderCniReport, titles, type CniReport, type CniSeries } from "./cni-report.ts";
import { startZedrouter, type BenchZedrouter } from "./cni-zedrouter.ts";
import { describeGoal, missedGoals } from "../harness/goal.ts";
import { readMachine } from "../harness/machine-facts.ts";
import { startProgress, type Progress } from "../harness/progress.ts";

/** Rejects with BenchError: `goals` when one is missed and --check was given, other codes when there are no figures. */
export async function runCniBench(args: readonly string[]): Promise<void> {
  const options = parseCniOptions(args);
  if (options === "help") {
    process.stdout.write(cniHelp);
    return;
  }
  const report = await measure(options);
  process.stdout.write(renderCniReport(report));
  if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`);
  const missed = missedGoals(report.goals);
  if (options.check && missed.length > 0) {
    throw new BenchError("goals", `${missed.length} goals missed:\n${missed.map(describeGoal).join("\n")}`);
  }
}

/** What a run needs. */
interface Stage {
  readonly zedrouter: BenchZedrouter;
  readonly progress: Progress;
  readonly runner: ProgramRunner;
}

/** Something to start again and again. */
interface Subject {
  readonly title: string;
  readonly program: () => Program;
  /** When its memory can be read: while it waits for its input, or for zedrouter. Some never wait. */
  readonly waitsFor?: "input" | "zedrouter";
}

async function measure(options: CniOptions): Promise<CniReport> {
  const about = { bench: "cni", date: new Date().toISOString(), machine: readMachine() } as const;
  using progress = startProgress();
  const directory = mkdtempSync(join(tmpdir(), "bench-cni-"));
  try {
    progress.at("bundling and installing eve-bridge, building the stock bridge plugin");
    const plugin = installPlugin(directory);
    const stock = buildStockBridge(directory);
    const forms = options.forms ? prepareForms(directory, plugin) : [];
    await using zedrouter = await startZedrouter(plugin.rpcSocket);
    const runner = createProgramRunner(directory);
    const stage = { zedrouter, progress, runner };
    const chosen = subjectsOf(plugin, stock);
    const all = await runInTurn([...chosen, ...forms.flatMap(subjectsOfForm)], options.rounds, stage);
    const [series, formSeries] = [all.slice(0, chosen.length), all.slice(chosen.length)];
    progress.at(`${options.atOnce} at once`);
    const atOnce = await runAtOnce(plugin, options.atOnce, runner);
    const { programBytes, installedBytes } = plugin;
    const figures = {
      ...about,
      rounds: options.rounds,
      series,
      forms: formSeries,
      atOnce,
      programBytes,
      installedBytes,
    };
    return { ...figures, goals: cniGoals(figures) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const emptyNode: Program = { file: process.execPath, args: ["-e", "0"] };

function subjectsOf(plugin: InstalledPlugin, stock: string | undefined): Subject[] {
  const installed = { file: plugin.launcher, args: [] };
  const bridge =
    stock === undefined ? [] : [{ title: titles.stock, program: () => plugin.version({ file: stock, args: [] }) }];
  return [
    { title: titles.node, program: () => emptyNode, waitsFor: "input" },
    ...bridge,
    { title: titles.version, program: () => plugin.version(installed), waitsFor: "input" },
    { title: titles.add, program: () => plugin.add(installed), waitsFor: "zedrouter" },
  ];
}

function subjectsOfForm({ title, version, add }: Form): Subject[] {
  const adds = add === undefined ? [] : [{ title: `${title}: ADD`, program: add, waitsFor: "zedrouter" as const }];
  return [{ title: `${title}: VERSION`, program: () => version }, ...adds];
}

/** All subjects once, then all of them again: what else the machine does meets them alike. */
async function runInTurn(
  subjects: readonly Subject[],
  rounds: number,
  { zedrouter, progress, runner }: Stage,
): Promise<CniSeries[]> {
  const series = subjects.map((subject) => ({ subject, ownMs: [] as number[], peakMb: 0 }));
  let round = 0;
  progress.at("starting each in turn", () => `${round} of ${rounds}`);
  for (; round < rounds; round++) {
    for (const one of series) {
      let pid = 0;
      zedrouter.onRequest = () => {
        // By now it has loaded all that an ADD needs. Reading this is zedrouter's time.
        one.peakMb = Math.max(one.peakMb, readPeakMb(pid));
      };
      zedrouter.takeMs();
      const { wallMs } = await runner.run(one.subject.program(), (started) => (pid = started));
      one.ownMs.push(wallMs - zedrouter.takeMs());
    }
  }
  zedrouter.onRequest = () => undefined;
  const finished: CniSeries[] = [];
  for (const { subject, ownMs, peakMb } of series) {
    const { title, program, waitsFor } = subject;
    if (waitsFor === undefined) finished.push({ title, ownMs });
    else
      finished.push({
        title,
        ownMs,
        peakMb: waitsFor === "zedrouter" ? peakMb : await runner.measureWaiting(waiting(program())),
      });
  }
  return finished;
}

/** `node -e 0` would be gone before its memory can be read. */
function waiting(program: Program): Program {
  return program === emptyNode ? { ...program, args: ["-e", "require('node:fs').readFileSync(0)"] } : program;
}

async function runAtOnce(plugin: InstalledPlugin, count: number, runner: ProgramRunner): Promise<CniReport["atOnce"]> {
  const time = async (programs: readonly Program[]) => {
    const startMs = performance.now();
    const outcomes = await Promise.allSettled(programs.map((program) => runner.run(program)));
    const failed = outcomes.filter(({ status }) => status === "rejected").length;
    return { seconds: (performance.now() - startMs) / 1000, failed };
  };
  const node = await time(Array.from({ length: count }, () => emptyNode));
  const adds = await time(Array.from({ length: count }, () => plugin.add({ file: plugin.launcher, args: [] })));
  return { count, failed: adds.failed, addSeconds: adds.seconds, nodeSeconds: node.seconds };
}
