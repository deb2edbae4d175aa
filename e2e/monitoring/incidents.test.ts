// SPDX-License-Identifier: Apache-2.0
/**
 * Incidents of a real operator, webhook and config daemon: what their metrics pages have over time, which alerts fire for it, and
 * how many lines each process logs. With SWITCHYARD_RECORD=1 the pages become the recordings that
 * e2e/integration/monitoring/alerts.test.ts replays.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sriovNetworkNodePolicies, sriovNetworkNodeStates } from "@switchyard/api";
import { igb } from "@switchyard/host/testing";
import { isRecord } from "@switchyard/kube";
import {
  certificateFlags,
  dashboardExpressions,
  issueWebhookCertificate,
  namespace,
  writeWebhookCertificate,
} from "@switchyard/test-cluster";
import { eventually, findFreePorts, findWorkspaceRoot } from "@switchyard/testing";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { checkPromql, firingAlerts } from "../integration/monitoring/promql.ts";
import {
  changesOf,
  recordings,
  replay,
  withoutComponents,
  type Recording,
} from "../integration/monitoring/recording.ts";
import { disposeOf } from "../src/dispose-of.ts";
import { createWorker, type FakeWorker } from "../src/nodes/fake-worker.ts";
import { startUpstreamCluster, type UpstreamCluster } from "../src/operator/upstream-cluster.ts";
import { recordPages, type PageRecorder } from "./metrics-recorder.ts";

const root = findWorkspaceRoot();
const rules = join(root, "charts/switchyard/alerts/switchyard.yaml");
const names = ["operator", "webhook", "worker-1"];
/** As long as the longest pause between two attempts of a daemon, several times. */
const failingMs = 6 * 60_000;
const outageMs = 130_000;
/** Lines that a process may write in an outage of 130 s. */
const mostLines = 20;

let cluster: UpstreamCluster;
let worker: FakeWorker;
let recorder: PageRecorder;

beforeAll(async () => {
  cluster = await startUpstreamCluster();
  const ports = await findFreePorts(4);
  const [operator = 0, webhook = 0, daemon = 0, listen = 0] = ports;
  const at = (port: number) => ["--metrics-address", `127.0.0.1:${port}`];
  cluster.start("operator", "apps/operator/src/main.ts", at(operator));
  await writeWebhookCertificate(cluster, await issueWebhookCertificate());
  const listening = ["--listen-address", `127.0.0.1:${listen}`, ...certificateFlags(cluster)];
  cluster.start("webhook", "apps/webhook/src/main.ts", [...listening, ...at(webhook)]);
  worker = await createWorker(cluster, "worker-1", [igb("0000:01:00.0")]);
  worker.startDaemon(at(daemon));
  const apiVersion = "sriovnetwork.openshift.io/v1";
  await cluster.kubectl(["create", "-f", "-"], {
    apiVersion,
    kind: "SriovOperatorConfig",
    metadata: { name: "default", namespace },
    spec: { disableDrain: true },
  });
  const expressions = await dashboardExpressions();
  const { metrics } = await checkPromql({ ruleFiles: [rules], expressions });
  const targets = [operator, webhook, daemon].map((port, index) => ({ job: names[index] ?? "", port }));
  recorder = recordPages(targets, new Set(metrics));
}, 900_000);

afterAll(() => disposeOf(recorder, worker, cluster), 60_000);

/** Alerts that fire if Prometheus scrapes at this interval. */
async function firing(
  recording: Recording,
  intervalMs: number,
  untilMs: number,
  repeat?: { fromMs: number; toMs: number },
) {
  const series = replay(withoutComponents(recording), { intervalMs, untilMs, ...(repeat && { repeat }) });
  const fired = await firingAlerts(rules, { intervalMs, untilMs, series });
  return [...new Set(fired.map(({ alert }) => alert))].sort();
}

async function keep(name: string, recording: Recording): Promise<void> {
  if (process.env["SWITCHYARD_RECORD"] !== "1") return;
  const lines = Object.entries(recording.series).map(
    ([series, runs]) => `    ${JSON.stringify(series)}: ${JSON.stringify(runs)}`,
  );
  const text = `{\n  "everyMs": ${recording.everyMs},\n  "series": {\n${lines.join(",\n")}\n  }\n}\n`;
  await writeFile(join(root, recordings, `${name}.json`), text);
}

const readStatus = async () => {
  const { status } = (await cluster.read(sriovNetworkNodeStates, "worker-1")) as { status?: unknown };
  return isRecord(status) ? status["syncStatus"] : undefined;
};
const linesOf = async (name: string) =>
  (await readFile(join(cluster.directory, `${name}.log`), "utf8")).split("\n").filter((line) => line !== "");
const within = { withinMs: 120_000, everyMs: 1_000 };

describe("the metrics of real processes", () => {
  it("raise no alert while a policy is configured", async () => {
    await eventually("the node reports", async () => (await readStatus()) === "Succeeded", within);
    await cluster.kubectl(["create", "-f", "-"], {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: sriovNetworkNodePolicies.kind,
      metadata: { name: "fast", namespace },
      spec: {
        resourceName: "fast",
        nodeSelector: { "kubernetes.io/hostname": "worker-1" },
        numVfs: 2,
        nicSelector: { rootDevices: ["0000:01:00.0"] },
      },
    });
    await delay(60_000);
    expect(await readStatus()).toBe("Succeeded");
    const recording = recorder.take();
    await keep("healthy", recording);
    expect(await firing(recording, 30_000, 3_600_000)).toEqual([]);
  });

  it("do not change their lines for an outage of the API server into hundreds, and raise no alert", async () => {
    const before = await Promise.all(names.map(linesOf));
    await cluster.cluster.killApiServer();
    await delay(outageMs);
    await cluster.cluster.startApiServer();
    await delay(60_000);
    const after = await Promise.all(names.map(linesOf));
    const recording = recorder.take();
    await keep("outage", recording);
    for (const [index, lines] of after.entries()) {
      const added = lines.slice(before[index]?.length ?? 0);
      expect([names[index], added.length <= mostLines ? [] : added]).toEqual([names[index], []]);
      expect(added.filter((line) => line.includes("API server answers again"))).toHaveLength(1);
      expect(added.filter((line) => line.includes("at async"))).toEqual([]);
    }
    for (const interval of [15_000, 30_000, 60_000]) expect(await firing(recording, interval, 3_600_000)).toEqual([]);
  });

  it("raise the alerts of a node that fails, which its policy reports until a retry has succeeded", async () => {
    worker.kernel.fault({ port: "sriov", method: "setNumVfs" }, { delayMs: 5_000, code: "EIO" });
    await cluster.kubectl([
      "patch",
      "sriovnetworknodepolicy",
      "fast",
      "--type=merge",
      "-p",
      JSON.stringify({ spec: { numVfs: 4 } }),
    ]);
    await eventually("the node fails", async () => (await readStatus()) === "Failed", within);
    await delay(failingMs);
    const recording = recorder.take();
    await keep("failing-node", recording);
    const degraded = Object.entries(recording.series).find(
      ([name]) => name.includes('name="fast"') && name.includes('type="Degraded"'),
    );
    // 0 until the first failure, and 1 from then on. A page that did not come in time has no value.
    expect(changesOf(degraded?.[1] ?? [])).toEqual([0, 1]);
    const repeat = { fromMs: failingMs - 130_000, toMs: failingMs };
    for (const interval of [15_000, 30_000, 60_000]) {
      expect(await firing(recording, interval, 3_600_000, repeat)).toEqual([
        "SwitchyardDegraded",
        "SwitchyardNodesFailed",
      ]);
    }
  });
});
