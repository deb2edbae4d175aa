// SPDX-License-Identifier: Apache-2.0
/**
 * The figures of the CNI plugin, for people. Pure.
 * Usage: `process.stdout.write(renderCniReport(report))`
 */
import { atMost, describeGoal, missedGoals, type Goal } from "../harness/goal.ts";
import { describeMachine, type MachineFacts } from "../harness/machine-facts.ts";
import { renderTable, showMb, showRatio } from "../harness/table.ts";

/** One program, run many times. */
export interface CniSeries {
  readonly title: string;
  /** Its own time: of an ADD, zedrouter's is taken off. */
  readonly ownMs: readonly number[];
  readonly peakMb?: number;
}

export interface CniReport {
  readonly bench: "cni";
  readonly date: string;
  readonly machine: MachineFacts;
  readonly rounds: number;
  /** The first is what the others are compared to. */
  readonly series: readonly CniSeries[];
  readonly forms: readonly CniSeries[];
  /** Many at once: seconds until the last has ended. */
  readonly atOnce: {
    readonly count: number;
    readonly failed: number;
    readonly addSeconds: number;
    readonly nodeSeconds: number;
  };
  readonly programBytes: number;
  readonly installedBytes: number;
  readonly goals: readonly Goal[];
}

export const titles = {
  node: "node -e 0",
  stock: "bridge VERSION (Go)",
  version: "VERSION",
  add: "ADD, virtual machine",
} as const;

/** Of what was measured. */
export function cniGoals({ series, atOnce }: Pick<CniReport, "series" | "atOnce">): Goal[] {
  const find = (title: string) => series.find((one) => one.title === title);
  const base = find(titles.node);
  const ratio = (title: string) => {
    const one = find(title);
    return base === undefined || one === undefined ? undefined : undisturbed(one.ownMs) / undisturbed(base.ownMs);
  };
  return [
    atMost("VERSION beside node -e 0", ratio(titles.version), 1.15, "x"),
    atMost("own time of an ADD beside node -e 0", ratio(titles.add), 1.4, "x"),
    atMost("RSS of an ADD", find(titles.add)?.peakMb, 50, "MB"),
    atMost(`failures of ${atOnce.count} ADDs at once`, atOnce.failed, 0, ""),
  ];
}

/**
 * The time that one run in twenty stays below. The work is the same in each, so what is above it is what else the machine
 * did; the very best run is a matter of luck.
 */
export function undisturbed(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 20)] ?? Number.NaN;
}

export function renderCniReport(report: CniReport): string {
  const { machine, date, rounds, series, forms, atOnce, programBytes, installedBytes, goals } = report;
  const missed = missedGoals(goals);
  const [base] = series;
  const rows = (some: readonly CniSeries[]) => some.map((one) => seriesRow(one, base));
  return [
    `CNI plugin eve-bridge; ${date}`,
    describeMachine(machine),
    `Own time in milliseconds, ${rounds} runs of each in turn; compared by the time that one run in twenty stays below`,
    "",
    renderTable(head, rows(series)),
    ...(forms.length > 0 ? ["", renderTable(["other ways to start it", ...head.slice(1)], rows(forms))] : []),
    "",
    `${atOnce.count} ADDs at once: ${atOnce.addSeconds.toFixed(2)} s, ${atOnce.failed} failed; as many \`node -e 0\`: ${atOnce.nodeSeconds.toFixed(2)} s`,
    `Program with code cache ${Math.round(programBytes / 1024)} KB; with Node and its libraries ${showMb(installedBytes / 2 ** 20)}`,
    "",
    `${goals.length - missed.length} of ${goals.length} goals met`,
    ...missed.map((goal) => `  missed: ${describeGoal(goal)}`),
    "",
  ].join("\n");
}

const head = ["", "1 in 20", "quarter", "median", "ratio", "RSS"];

function seriesRow({ title, ownMs, peakMb }: CniSeries, base: CniSeries | undefined): readonly string[] {
  const sorted = [...ownMs].sort((a, b) => a - b);
  const show = (ms: number | undefined) => (ms === undefined ? "-" : ms.toFixed(1));
  return [
    title,
    show(undisturbed(ownMs)),
    show(sorted[Math.floor(sorted.length / 4)]),
    show(sorted[Math.floor(sorted.length / 2)]),
    showRatio(base === undefined ? undefined : undisturbed(ownMs) / undisturbed(base.ownMs)),
    showMb(peakMb),
  ];
}
