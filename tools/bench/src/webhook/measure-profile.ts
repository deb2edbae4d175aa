// SPDX-License-Identifier: Apache-2.0
/** measureProfile measures the webhook in a cluster whose nodes have one profile. */
import { issueCertificate } from "@switchyard/certificates";
import { findFreePorts } from "@switchyard/testing";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startBenchCluster, type BenchCluster } from "../harness/bench-cluster.ts";
import { operatorNamespace } from "../fleet/fleet-objects.ts";
import { createMeasuredService, type MeasuredService } from "../harness/measured-service.ts";
import { untilIdle } from "../harness/process-meter.ts";
import type { Progress } from "../harness/progress.ts";
import { countRequests, total } from "../harness/request-count.ts";
import type { Run } from "../harness/run-control.ts";
import { loads, measureLoad, type LoadResult, type Target } from "./measure-load.ts";
import { compareAnswers } from "./compare-answers.ts";
import type { ProfileResult } from "./webhook-report.ts";
import { createReviewClient } from "./review-client.ts";
import { createReviews } from "./review-objects.ts";
import { fillCluster, fleetPolicies } from "./webhook-fleet.ts";
import type { WebhookOptions } from "./webhook-options.ts";
import { webhookProfiles, type WebhookProfileName } from "./webhook-profile.ts";

export interface ProfileOptions {
  readonly profile: WebhookProfileName;
  readonly options: WebhookOptions;
  readonly scripts: { readonly webhook: string; readonly bareServer: string };
  readonly progress: Progress;
  readonly run: Run;
}

/** The result, and the versions of the control plane. */
export async function measureProfile(
  asked: ProfileOptions,
): Promise<{ readonly result: ProfileResult; readonly versions: BenchCluster["versions"] }> {
  const { profile, options, scripts, progress, run } = asked;
  const { fail, signal } = run;
  await using cluster = await startBenchCluster({ namespaces: [operatorNamespace], progress, fail });
  await fillCluster({ cluster, options, profile: webhookProfiles[profile], progress, signal });

  const user = await cluster.user("webhook");
  const [port = 0, barePort = 0] = await findFreePorts(2);
  const files = await writeCertificate(cluster);
  const certificate = ["--tls-cert-file", files.certFile, "--tls-private-key-file", files.keyFile];
  const listen = ["--listen-address", `127.0.0.1:${port}`, "--shutdown-delay", "100ms"];
  await using webhook = createMeasuredService({
    script: scripts.webhook,
    pod: user.pod,
    args: ["--namespace", operatorNamespace, ...listen, ...certificate],
    log: join(cluster.directory, "webhook.log"),
    fail,
    cpuProf: options.cpuProf,
  });
  const startSeconds: number[] = [];
  let peakMb = 0;
  for (const start of ["first start", "restart"]) {
    progress.at(`${profile}: ${start} of the webhook`);
    const beginMs = performance.now();
    await webhook.start(signal);
    startSeconds.push((performance.now() - beginMs) / 1000);
    await untilIdle(webhook, signal);
    peakMb = Math.max(peakMb, webhook.read().peakMb);
  }

  const reviews = createReviews(webhookProfiles[profile]);
  await user.requests.read();
  using client = createReviewClient({ port, ca: files.ca, connections });
  const target: Target = { service: webhook, client, reviews, signal };
  const results: LoadResult[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    for (const load of loads) {
      progress.at(`${profile}: ${load.title}, ${load.atOnce} at once, round ${round}`);
      results.push(await measureLoad(target, { load, round, reviews: options.reviews }));
    }
  }
  progress.at(`${profile}: concurrent reviews of valid and invalid policies`);
  const comparison = await compareAnswers(client, reviews, signal);
  const { reads } = countRequests(await user.requests.read());
  const { rssMb, peakMb: peak } = webhook.read();
  await webhook.stop();

  progress.at(`${profile}: measuring the bare server`);
  await using bare = createMeasuredService({
    script: scripts.bareServer,
    args: [files.certFile, files.keyFile, String(barePort)],
    log: join(cluster.directory, "bare-server.log"),
    fail,
  });
  const baseline = await measureBareServer(bare, { port: barePort, ca: files.ca, target, options });
  return {
    versions: cluster.versions,
    result: {
      profile,
      policies: fleetPolicies(webhookProfiles[profile]).length,
      startSeconds,
      loads: results,
      baseline,
      comparison,
      rssMb,
      peakMb: Math.max(peak, peakMb),
      baselinePeakMb: bare.read().peakMb,
      lists: total(withoutWatches(reads)),
      stopSeconds: webhook.stopSeconds,
      complaints: webhook.complaints(),
    },
  };
}

/** More than any load sends at once. */
const connections = 16;

interface BareOptions {
  readonly port: number;
  readonly ca: string;
  readonly target: Target;
  readonly options: WebhookOptions;
}

async function measureBareServer(bare: MeasuredService, { port, ca, target, options }: BareOptions) {
  await bare.start(target.signal);
  using client = createReviewClient({ port, ca, connections });
  const results: LoadResult[] = [];
  for (const load of loads) {
    results.push(await measureLoad({ ...target, service: bare, client }, { load, round: 1, reviews: options.reviews }));
  }
  return results;
}

/** The counts without watches, which are renewed every few minutes. */
function withoutWatches(reads: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(reads).filter(([what]) => !what.startsWith("watch ")));
}

/** Writes a certificate for both servers, which is valid longer than any run. */
async function writeCertificate({ directory }: BenchCluster) {
  const [hourMs, nowMs] = [3_600_000, Date.now()];
  const validity = { notBefore: new Date(nowMs - hourMs), notAfter: new Date(nowMs + 48 * hourMs) };
  const { ca, cert, key } = await issueCertificate({ names: ["127.0.0.1"], ...validity });
  const [certFile, keyFile] = [join(directory, "server.crt"), join(directory, "server.key")];
  await writeFile(certFile, cert);
  await writeFile(keyFile, key, { mode: 0o600 });
  return { certFile, keyFile, ca };
}
