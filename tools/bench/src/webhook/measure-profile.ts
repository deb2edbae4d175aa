// SPDX-License-Identifier: Apache-2.0
/**
 * The webhook in a cluster of one profile of nodes, from its first start on.
 * Usage: `results.push(await measureProfile({ profile: "pf6", options, scripts, progress, run }))`
 */
import { isRecord } from "@switchyard/kube";
import { findFreePorts } from "@switchyard/testing";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BenchError } from "../bench-error.ts";
import { startBenchCluster, type BenchCluster } from "../cluster/bench-cluster.ts";
import { operatorNamespace } from "../fleet/fleet-objects.ts";
import { createMeasuredService, type MeasuredService } from "../measure/measured-service.ts";
import { untilIdle } from "../measure/process-meter.ts";
import type { Progress } from "../measure/progress.ts";
import { countRequests, total } from "../measure/request-count.ts";
import type { Run } from "../run-control.ts";
import { loads, measureLoad, type LoadResult, type Target } from "./measure-load.ts";
import { measureVerdicts } from "./measure-verdicts.ts";
import type { ProfileResult } from "./profile-result.ts";
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

const secretName = "webhook-certificate";

/** With what ran below it. */
export async function measureProfile(
  asked: ProfileOptions,
): Promise<{ readonly result: ProfileResult; readonly versions: BenchCluster["versions"] }> {
  const { profile, options, scripts, progress, run } = asked;
  const { fail, signal } = run;
  await using cluster = await startBenchCluster({ namespaces: [operatorNamespace], progress, fail });
  await fillCluster({ cluster, options, profile: webhookProfiles[profile], progress, signal });

  const user = await cluster.user("webhook");
  const [port = 0, barePort = 0] = await findFreePorts(2);
  const certificate = ["--certificate-secret", secretName, "--certificate-names", "127.0.0.1"];
  const listen = ["--listen-address", `127.0.0.1:${port}`, "--shutdown-delay", "100ms"];
  await using webhook = createMeasuredService({
    script: scripts.webhook,
    args: ["--kubeconfig", user.kubeconfig, "--namespace", operatorNamespace, ...listen, ...certificate],
    log: join(cluster.directory, "webhook.log"),
    fail,
    cpuProf: options.cpuProf,
  });
  const startSeconds: number[] = [];
  let peakMb = 0;
  for (const stage of ["first start", "start"]) {
    progress.at(`${profile}: ${stage} of the webhook`);
    const beginMs = performance.now();
    await webhook.start(signal);
    startSeconds.push((performance.now() - beginMs) / 1000);
    await untilIdle(webhook, signal);
    peakMb = Math.max(peakMb, webhook.read().peakMb);
  }

  const files = await readCertificate(cluster);
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
  progress.at(`${profile}: good and bad policies side by side`);
  const verdicts = await measureVerdicts(client, reviews, signal);
  const { reads } = countRequests(await user.requests.read());
  const { rssMb, peakMb: peak } = webhook.read();
  await webhook.stop();

  progress.at(`${profile}: the bare server`);
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
      verdicts,
      rssMb,
      peakMb: Math.max(peak, peakMb),
      baselinePeakMb: bare.read().peakMb,
      lists: total(withoutWatches(reads)),
      stopSeconds: webhook.stopSeconds,
      complaints: webhook.complaints(),
    },
  };
}

/** More than the largest load has at once. */
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

/** Watches are taken up again every few minutes, whatever is reviewed. */
function withoutWatches(reads: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(reads).filter(([what]) => !what.startsWith("watch ")));
}

/** What the webhook has made for itself, in files for the bare server. */
async function readCertificate({ admin, directory }: BenchCluster) {
  const path = `/api/v1/namespaces/${operatorNamespace}/secrets/${secretName}`;
  const secret: unknown = JSON.parse(await admin.request({ method: "GET", path }));
  const data = isRecord(secret) ? secret["data"] : undefined;
  const read = (key: string): string => {
    const text = isRecord(data) ? data[key] : undefined;
    if (typeof text !== "string") throw new BenchError("refused", `GET ${path}: no ${key}`);
    return Buffer.from(text, "base64").toString("utf8");
  };
  const [certFile, keyFile] = [join(directory, "bare-server.crt"), join(directory, "bare-server.key")];
  await writeFile(certFile, read("tls.crt"));
  await writeFile(keyFile, read("tls.key"));
  return { certFile, keyFile, ca: read("ca.crt") };
}
