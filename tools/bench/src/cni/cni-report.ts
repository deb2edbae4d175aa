// SPDX-License-Identifier: Apache-2.0
/**
 * The report of the cni benchmark. Pure.
 * Usage: `process.stdout.write(renderCniReport(report))`
 */
import type { BenchReport } from "../harness/bench.ts";
import { describeMachine } from "../harness/machine-facts.ts";
import { goalLines } from "../harness/report-lines.ts";
import { renderTable, showMb, showRatio } from "../harness/table.ts";
import { undisturbed } from "./cni-goals.ts";
import type { CniResults, CniSeries } from "./cni-results.ts";

/** The report of the benchmark. */
export interface CniReport extends BenchReport, CniResults {
  readonly bench: "cni";
  readonly rounds: number;
  /** Other ways to start the plugin (--forms). */
  readonly forms: readonly CniSeries[];
  /** Size of the program with its code cache. */
  readonly programBytes: number;
  /** Size of the whole installation, including Node. */
  readonly installedBytes: number;
}

export function renderCniReport(report: CniReport): string {
  const { machine, date, rounds, series, forms, atOnce, programBytes, installedBytes, goals } = report;
  const [base] = series;
  const rows = (some: readonly CniSeries[]) => some.map((one) => seriesRow(one, base));
  return [
    `CNI plugin eve-bridge; ${date}`,
    describeMachine(machine),
    `Own time in milliseconds, ${rounds} runs of each program in turn; the ratio compares the 5th percentiles`,
    "",
    renderTable(head, rows(series)),
    ...(forms.length > 0 ? ["", renderTable(["other ways to start it", ...head.slice(1)], rows(forms))] : []),
    "",
    `${atOnce.count} ADDs at once: ${atOnce.addSeconds.toFixed(2)} s, ${atOnce.failed} failed; as many \`node -e 0\`: ${atOnce.nodeSeconds.toFixed(2)} s`,
    `Program with code cache ${Math.round(programBytes / 1024)} KB; with Node and its libraries ${showMb(installedBytes / 2 ** 20)}`,
    "",
    ...goalLines(goals),
    "",
  ].join("\n");
}

const head = ["", "p5", "p25", "p50", "ratio", "RSS"];

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
