// SPDX-License-Identifier: Apache-2.0
/** The chart's alerts and dashboard are well-formed, and use only metrics that Switchyard's processes have. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { certificateFlags, issueWebhookCertificate, writeWebhookCertificate } from "@switchyard/test-cluster";
import { igb } from "@switchyard/host/testing";
import { eventually, findFreePorts, findWorkspaceRoot } from "@switchyard/testing";
import { join } from "node:path";
import { createWorker, type FakeWorker } from "../../src/nodes/fake-worker.ts";
import { dashboardExpressions } from "@switchyard/test-cluster";
import { checkPromql } from "./promql.ts";
import { startUpstreamCluster, type UpstreamCluster } from "../../src/operator/upstream-cluster.ts";

const chart = join(findWorkspaceRoot(), "charts/switchyard");
const alerts = join(chart, "alerts/switchyard.yaml");
const buildMs = 10 * 60_000;

let testCluster: UpstreamCluster;
let worker: FakeWorker;
let metricsPorts: readonly number[];

beforeAll(async () => {
  testCluster = await startUpstreamCluster();
  const [operator = 0, webhook = 0, listen = 0, daemon = 0] = await findFreePorts(4);
  metricsPorts = [operator, webhook, daemon];
  const at = (port: number) => ["--metrics-address", `127.0.0.1:${port}`];
  testCluster.start("operator", "apps/operator/src/main.ts", at(operator));
  await writeWebhookCertificate(testCluster, await issueWebhookCertificate());
  const listening = ["--listen-address", `127.0.0.1:${listen}`, ...certificateFlags(testCluster)];
  testCluster.start("webhook", "apps/webhook/src/main.ts", [...listening, ...at(webhook)]);
  worker = await createWorker(testCluster, "worker-1", [igb("0000:01:00.0")]);
  worker.startDaemon(at(daemon));
}, buildMs);

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await testCluster[Symbol.asyncDispose]();
}, 60_000);

/** The names of all time series of a process, from the TYPE lines of its metrics page. */
async function seriesAt(port: number): Promise<readonly string[]> {
  const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = "", type]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
}

describe("alerts and dashboard", () => {
  it(
    "are valid for Prometheus' parsers and use only metrics that the processes have",
    async () => {
      const expressions = await dashboardExpressions();
      const { problems, metrics } = await checkPromql({ ruleFiles: [alerts], expressions });
      expect(problems).toEqual([]);
      expect(expressions.length).toBeGreaterThan(20);

      const known = await eventually("all metrics", async () => {
        const found = new Set((await Promise.all(metricsPorts.map(seriesAt))).flat());
        expect(metrics.filter((name) => !found.has(name))).toEqual([]);
        return found;
      });
      const ours = [...known].filter((name) => name.startsWith("switchyard_") && !/_(sum|count)$/.test(name));
      expect(ours.filter((name) => !metrics.includes(name))).toEqual([]);
    },
    buildMs,
  );

  it(
    "are refused by this test if they are malformed",
    async () => {
      const { problems, metrics } = await checkPromql({ ruleFiles: [], expressions: ["sum(rate(a[5m])", "b > 1"] });
      expect([problems.length, metrics]).toEqual([1, ["b"]]);
    },
    buildMs,
  );
});
