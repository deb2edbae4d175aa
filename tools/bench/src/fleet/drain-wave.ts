// SPDX-License-Identifier: Apache-2.0
/**
 * measureDrainWave lets many nodes of a pool request a drain at the same time. It measures how many drain at once and
 * how long a free slot stays free. Daemons are simulated: each waits until its node is drained, works for a while, and
 * is idle.
 */
import {
  annotations,
  apiVersion,
  nodes as nodeType,
  sriovNetworkNodeStates,
  sriovNetworkPoolConfigs,
  type DrainRequest,
} from "@switchyard/api";
import { collectionPath, isRecord, objectPath } from "@switchyard/kube";
import type { BenchCluster } from "../harness/bench-cluster.ts";
import { inParallel, metadataOnly } from "../harness/plain-client.ts";
import type { MeasuredService } from "../harness/measured-service.ts";
import type { Progress } from "../harness/progress.ts";
import { pause, until, type Run } from "../harness/run-control.ts";
import { createDrainLog, type DrainWave } from "./drain-log.ts";
import { nodeName, operatorNamespace } from "./fleet-objects.ts";
import { watchStates, type Metadata } from "./watch-states.ts";

export interface DrainWaveBench {
  readonly cluster: BenchCluster;
  readonly operator: MeasuredService;
  readonly progress: Progress;
  readonly run: Run;
}

/** maxUnavailable of the pool. */
const share = 0.1;

/** How long a simulated daemon works on a drained node. */
const workMs = 200;

const label = "example.com/drain-wave";

/** Drains the first `size` nodes of the fleet. */
export async function measureDrainWave(bench: DrainWaveBench, size: number): Promise<DrainWave> {
  const { cluster, operator, progress, run } = bench;
  const { admin } = cluster;
  const names = Array.from({ length: size }, (_, index) => nodeName(index));
  const forAll = (work: (name: string) => Promise<unknown>) => inParallel(names, 32, work);

  progress.at(`creating a pool of ${size} nodes`);
  await forAll((name) => patchNode(cluster, name, { labels: { [label]: "yes" } }));
  await admin.request({ method: "POST", path: collectionPath(sriovNetworkPoolConfigs, operatorNamespace), body: pool });

  const log = createDrainLog(Math.max(1, Math.floor(size * share)));
  const members = new Set(names);
  async function work(name: string): Promise<void> {
    await pause(workMs, run.signal);
    log.freed(performance.now());
    await request(cluster, name, "Idle");
  }
  await using _watch = await watchStates(admin, {
    namespace: operatorNamespace,
    take(type, metadata) {
      const seen = readState(metadata);
      if (type === "DELETED" || seen === undefined || !members.has(seen.name)) return;
      if (log.saw(seen, performance.now()) === "drained") work(seen.name).catch(run.fail);
    },
    fail: run.fail,
  });

  const cpuBefore = operator.read().cpuSeconds;
  const beginMs = performance.now();
  progress.at(`draining ${size} nodes`, () => `${log.ended} of ${size} done, ${log.busy} draining or drained`);
  await forAll((name) => request(cluster, name, "Drain_Required"));
  await until("all nodes drained and idle again", () => log.ended === size, { withinMs: 300_000, signal: run.signal });
  const wave = log.result((performance.now() - beginMs) / 1000, operator.read().cpuSeconds - cpuBefore);
  return { ...wave, nodes: size };
}

const pool = {
  apiVersion,
  kind: "SriovNetworkPoolConfig",
  metadata: { name: "drain-wave", namespace: operatorNamespace },
  spec: { nodeSelector: { matchLabels: { [label]: "yes" } }, maxUnavailable: `${share * 100}%` },
};

/** Writes both annotations, the Node's first, as a daemon does. */
async function request(cluster: BenchCluster, name: string, request: DrainRequest): Promise<void> {
  await patchNode(cluster, name, { annotations: { [annotations.nodeState]: request } });
  await cluster.admin.request({
    method: "PATCH",
    path: objectPath(sriovNetworkNodeStates, { name, namespace: operatorNamespace }),
    contentType: "application/merge-patch+json",
    accept: metadataOnly,
    body: { metadata: { annotations: { [annotations.desiredState]: request } } },
  });
}

async function patchNode(cluster: BenchCluster, name: string, metadata: object): Promise<void> {
  const contentType = "application/merge-patch+json";
  const path = objectPath(nodeType, { name });
  await cluster.admin.request({ method: "PATCH", path, contentType, accept: metadataOnly, body: { metadata } });
}

function readState({ name, annotations: texts = {} }: Metadata) {
  if (typeof name !== "string") return undefined;
  const text = (key: string) => (isRecord(texts) && typeof texts[key] === "string" ? texts[key] : "Idle");
  return { name, desired: text(annotations.desiredState), current: text(annotations.currentState) };
}
