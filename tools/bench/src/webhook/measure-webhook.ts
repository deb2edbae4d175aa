// SPDX-License-Identifier: Apache-2.0
/**
 * measureWebhook measures the admission webhook with a real API server and the objects of a fleet.
 */
import { buildApp, bundleProgram } from "../harness/measured-process.ts";
import { stopGoal } from "../harness/goal.ts";
import { readMachine } from "../harness/machine.ts";
import { startProgress } from "../harness/progress.ts";
import { startRun } from "../harness/run-control.ts";
import { measureProfile } from "./measure-profile.ts";
import { webhookGoals, type ProfileResult, type WebhookReport } from "./webhook-report.ts";
import type { WebhookOptions } from "./webhook-options.ts";

/** Rejects with BenchError if the measurement fails. */
export async function measureWebhook(options: WebhookOptions): Promise<WebhookReport> {
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
