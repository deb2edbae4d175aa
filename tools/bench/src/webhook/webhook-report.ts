// SPDX-License-Identifier: Apache-2.0
/**
 * The report of the webhook benchmark. Pure.
 * Usage: `process.stdout.write(renderWebhookReport(report))`
 */
import type { BenchReport } from "../harness/bench.ts";
import { complaintLines, describeRun, goalLines } from "../harness/report-lines.ts";
import { renderTable, showMb, showRatio, showSeconds } from "../harness/table.ts";
import type { LoadResult } from "./measure-load.ts";
import type { ProfileResult } from "./profile-result.ts";
import { titleOf } from "./webhook-goals.ts";
import type { WebhookOptions } from "./webhook-options.ts";

/** The report of the benchmark. */
export interface WebhookReport extends BenchReport {
  readonly bench: "webhook";
  readonly versions: Readonly<Record<string, string>>;
  readonly options: Pick<WebhookOptions, "nodes" | "pods" | "reviews" | "rounds">;
  readonly profiles: readonly ProfileResult[];
}

export function renderWebhookReport(report: WebhookReport): string {
  const { options, profiles, goals, date } = report;
  const { nodes, pods, reviews, rounds } = options;
  return [
    `Webhook, ${nodes} nodes, ${pods} pods, ${reviews} reviews per load, best and worst of ${rounds} rounds; ${date}`,
    describeRun(report),
    "Bare server: an HTTPS server in Node that admits the same reviews without reading them",
    "",
    ...profiles.flatMap(profileLines),
    ...goalLines(goals),
    "",
  ].join("\n");
}

function profileLines(result: ProfileResult): readonly string[] {
  const { profile, policies, startSeconds, loads, baseline, comparison, rssMb, peakMb, baselinePeakMb, lists } = result;
  const { complaints } = result;
  const [first, again] = startSeconds;
  return [
    `${profile}: ${policies} policies; ready after ${showSeconds(first)}, after a restart ${showSeconds(again)}; ` +
      `RSS ${showMb(rssMb)}, peak ${showMb(peakMb)} (bare server ${showMb(baselinePeakMb)}); ` +
      `${comparison.wrong} of ${comparison.reviews} mixed reviews with another decision than alone, ` +
      `${comparison.otherWarnings} with other warnings; ` +
      `${lists} lists or reads during the reviews`,
    "",
    renderTable(head, rowsOf(loads, baseline)),
    "",
    ...complaintLines("webhook", complaints),
  ];
}

const head = ["review", "p50", "p99", "worst round p99", "CPU of 100", "bare p50", "bare p99", "ratio of p50"];

function rowsOf(loads: readonly LoadResult[], baseline: readonly LoadResult[]): readonly (readonly string[])[] {
  const titles = [...new Set(loads.map(titleOf))];
  return titles.map((title) => {
    const rounds = loads.filter((load) => titleOf(load) === title);
    const best = rounds.reduce((a, b) => (a.p99 <= b.p99 ? a : b));
    const bare = baseline.find((load) => titleOf(load) === title);
    return [
      title,
      showMs(best.p50),
      showMs(best.p99),
      showMs(Math.max(...rounds.map(({ p99 }) => p99))),
      showSeconds(Math.max(...rounds.map(({ cpuSeconds }) => cpuSeconds))),
      showMs(bare?.p50),
      showMs(bare?.p99),
      showRatio(bare && best.p50 / bare.p50),
    ];
  });
}

/** "3.7 ms" */
function showMs(ms: number | undefined): string {
  return ms === undefined ? "-" : `${ms.toFixed(ms < 100 ? 1 : 0)} ms`;
}
