// SPDX-License-Identifier: Apache-2.0
/** The report of the webhook benchmark. Pure. */
import type { BenchReport } from "../harness/bench.ts";
import { atMost, type Goal } from "../harness/goal.ts";
import {
  complaintLines,
  describeRun,
  goalLines,
  renderTable,
  showMb,
  showRatio,
  showSeconds,
} from "../harness/report-lines.ts";
import type { AnswerComparison } from "./compare-answers.ts";
import type { LoadResult } from "./measure-load.ts";
import type { WebhookOptions } from "./webhook-options.ts";
import type { WebhookProfileName } from "./webhook-profile.ts";

const p99Ms = { alone: 20, together: 60 };

const cpuSecondsPer100 = 1;

const peakMb = 130;

/** The report of the benchmark. */
export interface WebhookReport extends BenchReport {
  readonly bench: "webhook";
  readonly versions: Readonly<Record<string, string>>;
  readonly options: Pick<WebhookOptions, "nodes" | "pods" | "reviews" | "rounds">;
  readonly profiles: readonly ProfileResult[];
}

/** ProfileResult is the result of the webhook benchmark for one profile of nodes. */
export interface ProfileResult {
  readonly profile: WebhookProfileName;
  /** Number of policies in the cluster. */
  readonly policies: number;
  /** Seconds until /readyz succeeds: of the first start and of a restart. */
  readonly startSeconds: readonly number[];
  readonly loads: readonly LoadResult[];
  /** The same loads on the server that admits everything, one round. */
  readonly baseline: readonly LoadResult[];
  readonly comparison: AnswerComparison;
  readonly rssMb: number;
  /** The largest RSS of all processes. */
  readonly peakMb: number;
  readonly baselinePeakMb: number;
  /** Number of lists and reads that the webhook requested from the API server during the reviews. */
  readonly lists: number;
  readonly stopSeconds: readonly number[];
  /** Warnings and errors in the webhook's log. */
  readonly complaints: readonly string[];
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

/**
 * The goals of the webhook benchmark. Pure.
 * The goals for time, CPU and memory apply to fleets of at most 1,000 nodes that are all alike. For other fleets the
 * report only shows the figures.
 */
export function webhookGoals(result: ProfileResult, { nodes }: { readonly nodes: number }): readonly Goal[] {
  const { profile, loads, comparison, peakMb: peak, lists } = result;
  const titles = new Set(loads.map(titleOf));
  const sized = [
    ...[...titles].flatMap((title) => {
      const rounds = loads.filter((load) => titleOf(load) === title);
      return loadGoals(`${profile}, ${title}`, rounds);
    }),
    atMost(`${profile}, peak RSS`, peak, peakMb, "MB"),
  ];
  const wrong = loads.reduce((sum, load) => sum + load.wrong, comparison.wrong);
  return [
    ...(nodes > 1000 || profile === "vf256-in-pods" ? [] : sized),
    atMost(`${profile}, wrong decisions`, wrong, 0, ""),
    atMost(`${profile}, lists while reviewing`, lists, 0, ""),
  ];
}

/** Compares the best latency of all rounds, because other work on the machine only adds to it, and the worst CPU time. */
function loadGoals(what: string, rounds: readonly LoadResult[]): readonly Goal[] {
  const limit = (rounds[0]?.atOnce ?? 1) === 1 ? p99Ms.alone : p99Ms.together;
  const best = Math.min(...rounds.map(({ p99 }) => p99));
  const cpu = Math.max(...rounds.map(({ cpuSeconds }) => cpuSeconds));
  return [atMost(`${what}, p99`, best, limit, "ms"), atMost(`${what}, CPU of 100`, cpu, cpuSecondsPer100, "s")];
}

/** "new policy, 8 at once" */
function titleOf({ title, atOnce }: Pick<LoadResult, "title" | "atOnce">): string {
  return atOnce === 1 ? title : `${title}, ${atOnce} at once`;
}
