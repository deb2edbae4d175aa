// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run bench -- webhook`: the admission webhook beside a real API server and the objects of a fleet.
 */
import { writeFile } from "node:fs/promises";
import { BenchError } from "../harness/bench-error.ts";
import { buildApp, bundleProgram } from "../harness/bundle.ts";
import { describeGoal, missedGoals, stopGoal } from "../harness/goal.ts";
import { readMachine } from "../harness/machine-facts.ts";
import { startProgress } from "../harness/progress.ts";
import { startRun } from "../harness/run-control.ts";
import { measureProfile } from "./measure-profile.ts";
import type { ProfileResult } from "./profile-result.ts";
import { webhookGoals } from "./webhook-goals.ts";
import { parseWebhookOptions, webhookHelp, type WebhookOptions } from "./webhook-options.ts";
import { renderWebhookReport, type WebhookReport } from "./webhook-report.ts";

/** Rejects with BenchError: `goals` when one is missed and --check was given, other codes when there are no figures. */
export async function runWebhookBench(args: readonly string[]): Promise<void> {
  const options = parseWebhookOptions(args);
  if (options === "help") {
    process.stdout.write(webhookHelp);
    return;
  }
  const report = await measureWebhook(options);
  process.stdout.write(renderWebhookReport(report));
  if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`);
  const missed = missedGoals(report.goals);
  if (options.check && missed.length > 0) {
    throw new BenchError("goals", `${missed.length} goals missed:\n${missed.map(describeGoal).join("\n")}`);
  }
}

async function measureWebhook(options: WebhookOptions): Promise<WebhookReport> {
  const machine = readMachine();
  const date = new Date().toISOString();
  using progress = startProgress();
  progress.at("building the webhook");
  const webhook = await buildApp("webhook");
  const bareServer = await bundleProgram("tools/bench/src/webhook/bare-server.ts");
  using run = startRun();
  const results: ProfileResult[] = [];
  let versions: Readonly<Record<string, string>> = {};
  for (const profile of options.profiles) {
    const measured = await measureProfile({ profile, options, scripts: { webhook, bareServer }, progress, run });
    results.push(measured.result);
    versions = measured.versions;
  }
  const { nodes, pods, reviews, rounds } = options;
  return {
    bench: "webhook",
    date,
    machine,
    versions,
    options: { nodes, pods, reviews, rounds },
    profiles: results,
    goals: [
      ...results.flatMap((result) => webhookGoals(result, options)),
      stopGoal(results.flatMap(({ stopSeconds }) => stopSeconds)),
    ],
  };
}
