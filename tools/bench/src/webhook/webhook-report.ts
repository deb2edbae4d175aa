// SPDX-License-Identifier: Apache-2.0
/**
 * The figures of a run, for people and for programs. Pure.
 * Usage: `process.stdout.write(renderWebhookReport(report))`
 */
import { describeGoal, type Goal } from "../harness/goal.ts";
import { describeMachine, type MachineFacts } from "../harness/machine-facts.ts";
import { renderTable, showMb, showRatio, showSeconds } from "../harness/table.ts";
import type { LoadResult } from "./measure-load.ts";
import type { ProfileResult } from "./profile-result.ts";
import { titleOf } from "./webhook-goals.ts";
import type { WebhookOptions } from "./webhook-options.ts";

/** What --json writes. */
export interface WebhookReport {
  readonly bench: "webhook";
  /** RFC 3339. */
  readonly date: string;
  readonly machine: MachineFacts;
  readonly versions: Readonly<Record<string, string>>;
  readonly options: Pick<WebhookOptions, "nodes" | "pods" | "reviews" | "rounds">;
  readonly profiles: readonly ProfileResult[];
  readonly goals: readonly Goal[];
}

export function renderWebhookReport({ machine, versions, options, profiles, goals, date }: WebhookReport): string {
  const missed = goals.filter(({ met }) => !met);
  const programs = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const { nodes, pods, reviews, rounds } = options;
  return [
    `Webhook, ${nodes} nodes, ${pods} pods, ${reviews} reviews of each load, best and worst of ${rounds} rounds; ${date}`,
    `${describeMachine(machine)}; ${programs.join(", ")}`,
    "Bare server: the same reviews to an HTTPS server in Node that admits them without looking",
    "",
    ...profiles.flatMap(profileLines),
    `${goals.length - missed.length} of ${goals.length} goals met`,
    ...missed.map((goal) => `  missed: ${describeGoal(goal)}`),
    "",
  ].join("\n");
}

function profileLines(result: ProfileResult): readonly string[] {
  const { profile, policies, startSeconds, loads, baseline, verdicts, rssMb, peakMb, baselinePeakMb, lists } = result;
  const { complaints } = result;
  const [first, again] = startSeconds;
  return [
    `${profile}: ${policies} policies; ready after ${showSeconds(first)}, started again ${showSeconds(again)}; ` +
      `RSS ${showMb(rssMb)}, peak ${showMb(peakMb)} (bare server ${showMb(baselinePeakMb)}); ` +
      `${verdicts.wrong} of ${verdicts.reviews} mixed reviews judged otherwise than alone, ` +
      `${verdicts.otherWarnings} with other warnings; ` +
      `${lists} lists or reads while reviewing`,
    "",
    renderTable(head, rowsOf(loads, baseline)),
    "",
    ...(complaints.length === 0 ? [] : [`The webhook's log has ${complaints.length} warnings or errors, first:`]),
    ...complaints.slice(0, 5).map((line) => `  ${line.slice(0, 300)}`),
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
