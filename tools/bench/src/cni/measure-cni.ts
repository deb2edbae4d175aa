// SPDX-License-Identifier: Apache-2.0
/**
 * measureCni measures the start of eve-bridge, which a container runtime starts for each interface of each pod.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepareForms, type Form } from "./cni-forms.ts";
import type { CniOptions } from "./cni-options.ts";
import { buildStockBridge, installPlugin, type InstalledPlugin } from "./cni-plugin.ts";
import { createProgramRunner, readPeakMb, type Program, type ProgramRunner } from "./cni-program.ts";
import { cniGoals, titles, type CniReport, type CniSeries } from "./cni-report.ts";
import { startZedrouter, type BenchZedrouter } from "./cni-zedrouter.ts";
import { readMachine } from "../harness/machine.ts";
import { startProgress, type Progress } from "../harness/progress.ts";

/** What every part of the measurement needs. */
interface CniRun {
  readonly zedrouter: BenchZedrouter;
  readonly progress: Progress;
  readonly runner: ProgramRunner;
}

/** A program that is started in every round. */
interface Subject {
  readonly title: string;
  readonly program: () => Program;
  /** What the program waits for while its memory is read; absent if it never waits. */
  readonly waitsFor?: "input" | "zedrouter";
}

/** Rejects with BenchError if the measurement fails. */
export async function measureCni(options: CniOptions): Promise<CniReport> {
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
    const run = { zedrouter, progress, runner };
    const chosen = subjectsOf(plugin, stock);
    const all = await runInTurn([...chosen, ...forms.flatMap(subjectsOfForm)], options.rounds, run);
    const [series, formSeries] = [all.slice(0, chosen.length), all.slice(chosen.length)];
    progress.at(`starting ${options.atOnce} ADDs at once`);
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

/** Starts all subjects once per round, so that other work on the machine affects all of them equally. */
async function runInTurn(
  subjects: readonly Subject[],
  rounds: number,
  { zedrouter, progress, runner }: CniRun,
): Promise<CniSeries[]> {
  const series = subjects.map((subject) => ({ subject, ownMs: [] as number[], peakMb: 0 }));
  let round = 0;
  progress.at("starting each program in turn", () => `${round} of ${rounds}`);
  for (; round < rounds; round++) {
    for (const one of series) {
      let pid = 0;
      zedrouter.onRequest = () => {
        // The program has now loaded everything that an ADD needs. The time of this reading counts as zedrouter's.
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

/** `node -e 0` ends before its memory can be read, so a variant that reads stdin replaces it. */
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
