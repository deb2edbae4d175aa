// SPDX-License-Identifier: Apache-2.0
/** The start of eve-bridge, which a container runtime starts for each interface of each pod. */
import { renderTable } from "@switchyard/testing";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  buildStockBridge,
  formsOf,
  installPlugin,
  startZedrouter,
  type Plugin,
  type Subject,
  type Zedrouter,
} from "./cni-plugin.ts";
import { readMemory } from "../harness/proc.ts";
import { measureWaiting, runShortly, type Program } from "../harness/short-programs.ts";
import { count, toggle } from "../harness/options.ts";
import { atMost, quantile, showMb, showRatio } from "../harness/report.ts";
import type { Run } from "../harness/run.ts";
import { defineScenario, type CommonFigures } from "../harness/scenario.ts";

/** One program that was started many times. */
export interface CniSeries {
  readonly title: string;
  /** Durations of the runs. For an ADD, the time that zedrouter took is subtracted. */
  readonly ownMs: readonly number[];
  readonly peakMb?: number;
}

export const titles = {
  node: "node -e 0",
  stock: "bridge VERSION (Go)",
  version: "VERSION",
  add: "ADD, virtual machine",
} as const;

export interface CniFigures extends CommonFigures {
  /** The first series is the baseline. */
  readonly series: readonly CniSeries[];
  /** Other ways to start the plugin (--forms). */
  readonly forms: readonly CniSeries[];
  /** Many ADDs started at the same time; seconds until the last one has ended. */
  readonly atOnce: {
    readonly count: number;
    readonly failed: number;
    readonly addSeconds: number;
    readonly nodeSeconds: number;
  };
  /** Size of the program with its code cache. */
  readonly programBytes: number;
  /** Size of the whole installation, including Node. */
  readonly installedBytes: number;
}

export const cni = defineScenario({
  name: "cni",
  summary: "the start of the CNI plugin eve-bridge",
  baseline: "`node -e 0`, and the stock `bridge` plugin; all programs are started in turn",
  options: {
    rounds: count("how often each program is started", { standard: 100, quick: 4, range: [4, 10_000] }),
    atOnce: count("number of ADDs that are started at the same time", { standard: 50, quick: 4, range: [1, 1000] }),
    forms: toggle("also measure other ways to start the plugin: compile cache, ES module, snapshot"),
  },

  async measure({ rounds, atOnce, forms }, run): Promise<CniFigures> {
    run.progress.at("bundling and installing eve-bridge, building the stock bridge plugin");
    const directory = await mkdtemp(join(tmpdir(), "bench-cni-"));
    run.use({ [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) });
    const plugin = await installPlugin(directory);
    const stock = await buildStockBridge(directory);
    const zedrouter = run.use(await startZedrouter(plugin.rpcSocket));
    const chosen = subjectsOf(plugin, stock);
    const others = forms ? await formsOf(plugin, directory) : [];
    const all = await runInTurn([...chosen, ...others], { rounds, zedrouter, directory, progress: run.progress });
    run.progress.at(`starting ${atOnce} ADDs at once`);
    return {
      versions: {},
      series: all.slice(0, chosen.length),
      forms: all.slice(chosen.length),
      atOnce: await runAtOnce(plugin, atOnce, directory),
      programBytes: plugin.programBytes,
      installedBytes: plugin.installedBytes,
    };
  },

  goals({ series, atOnce }) {
    const find = (title: string) => series.find((one) => one.title === title);
    const base = find(titles.node);
    const ratio = (title: string) => {
      const one = find(title);
      return base === undefined || one === undefined
        ? undefined
        : typicalShortTime(one.ownMs) / typicalShortTime(base.ownMs);
    };
    return [
      atMost("VERSION beside node -e 0", ratio(titles.version), 1.15, "x"),
      atMost("own time of an ADD beside node -e 0", ratio(titles.add), 1.4, "x"),
      atMost("RSS of an ADD", find(titles.add)?.peakMb, 50, "MB"),
      atMost(`failures of ${atOnce.count} ADDs at once`, atOnce.failed, 0, ""),
    ];
  },

  render({ series, forms, atOnce, programBytes, installedBytes }, { rounds }) {
    const [base] = series;
    const table = (title: string, some: readonly CniSeries[]) =>
      renderTable(
        [title, "p5", "p25", "p50", "ratio", "RSS"],
        some.map((one) => seriesRow(one, base)),
      );
    return [
      "CNI plugin eve-bridge",
      `Own time in milliseconds, ${rounds} runs of each program in turn; the ratio compares the 5th percentiles`,
      "",
      table("", series),
      ...(forms.length > 0 ? ["", table("other ways to start it", forms)] : []),
      "",
      `${atOnce.count} ADDs at once: ${atOnce.addSeconds.toFixed(2)} s, ${atOnce.failed} failed; as many \`node -e 0\`: ${atOnce.nodeSeconds.toFixed(2)} s`,
      `Program with code cache ${Math.round(programBytes / 1024)} KB; with Node and its libraries ${showMb(installedBytes / 2 ** 20)}`,
    ];
  },
});

function seriesRow({ title, ownMs, peakMb }: CniSeries, base: CniSeries | undefined): readonly string[] {
  const shares = [0.25, 0.5].map((share) => quantile(ownMs, share).toFixed(1));
  const own = typicalShortTime(ownMs);
  return [title, own.toFixed(1), ...shares, showRatio(own, base && typicalShortTime(base.ownMs)), showMb(peakMb)];
}

/**
 * The 5th percentile of `times`. All runs do the same work, so longer times come from other work on the machine; the
 * shortest time of all is an outlier.
 */
export function typicalShortTime(times: readonly number[]): number {
  return quantile(times, 1 / 20);
}

const emptyNode: Program = { file: process.execPath, args: ["-e", "0"] };

/** `node -e 0` ends before its memory can be read, so a variant that reads stdin replaces it there. */
const waitingNode: Program = { ...emptyNode, args: ["-e", "require('node:fs').readFileSync(0)"] };

function subjectsOf(plugin: Plugin, stock: string | undefined): readonly Subject[] {
  const { launcher, version, add } = plugin;
  const bridge =
    stock === undefined ? [] : [{ title: titles.stock, program: () => version({ file: stock, args: [] }) }];
  return [
    { title: titles.node, program: () => emptyNode, waiting: () => waitingNode },
    ...bridge,
    { title: titles.version, program: () => version(launcher), waiting: () => version(launcher) },
    { title: titles.add, program: () => add(launcher) },
  ];
}

interface Turns extends Pick<Run, "progress"> {
  readonly rounds: number;
  readonly zedrouter: Zedrouter;
  readonly directory: string;
}

/** Starts all subjects once per round, so that other work on the machine affects all of them equally. */
async function runInTurn(
  subjects: readonly Subject[],
  { rounds, zedrouter, progress, directory }: Turns,
): Promise<CniSeries[]> {
  const series = subjects.map((subject) => ({ subject, ownMs: [] as number[], peakMb: 0 }));
  let round = 0;
  progress.at("starting each program in turn", () => `${round} of ${rounds}`);
  for (; round < rounds; round++) {
    for (const one of series) {
      let pid = 0;
      zedrouter.onRequest = () => {
        // The program has now loaded everything that an ADD needs. The time of this reading counts as zedrouter's.
        one.peakMb = Math.max(one.peakMb, readMemory(pid).peakMb);
      };
      zedrouter.takeMs();
      const wallMs = await runShortly(directory, one.subject.program(), (started) => (pid = started));
      one.ownMs.push(wallMs - zedrouter.takeMs());
    }
  }
  zedrouter.onRequest = () => undefined;
  const finished: CniSeries[] = [];
  for (const { subject, ownMs, peakMb } of series) {
    const { title, waiting } = subject;
    const measuredMb = waiting === undefined ? peakMb : await measureWaiting(directory, waiting());
    finished.push({ title, ownMs, ...(measuredMb > 0 && { peakMb: measuredMb }) });
  }
  return finished;
}

async function runAtOnce(plugin: Plugin, count: number, directory: string): Promise<CniFigures["atOnce"]> {
  const time = async (program: () => Program) => {
    const startMs = performance.now();
    const runs = Array.from({ length: count }, () => runShortly(directory, program()));
    const failed = (await Promise.allSettled(runs)).filter(({ status }) => status === "rejected").length;
    return { seconds: (performance.now() - startMs) / 1000, failed };
  };
  const node = await time(() => emptyNode);
  const adds = await time(() => plugin.add(plugin.launcher));
  return { count, failed: adds.failed, addSeconds: adds.seconds, nodeSeconds: node.seconds };
}
