// SPDX-License-Identifier: Apache-2.0
/**
 * runMonitoringDemo shows a morning with an alert. A real Prometheus scrapes operator and config daemons by a token. A node fails, the
 * chart's alerts fire, the commands of their runbook name the cause, and the alerts end. One minute of the rules is one second here.
 */
import { igb, i40e } from "@switchyard/host/testing";
import {
  applyPolicy,
  createOperatorConfig,
  eachNode,
  logNodeChanges,
  namespace,
  policyIs,
  policySpec,
  readPanels,
  type Narrator,
  type TestCluster,
} from "@switchyard/test-cluster";
import { eventually, findFreePorts, findWorkspaceRoot, renderTable } from "@switchyard/testing";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startNode, type DemoNode, type StartedNode } from "./demo.ts";
import { runSwitchyard } from "./run-switchyard.ts";
import { startPrometheus, type ActiveAlert, type Prometheus, type ScrapeTarget } from "./prometheus.ts";

const monitored: readonly DemoNode[] = [
  { node: "worker-1", nic: igb("0000:01:00.0"), firstPort: "enp1s0f0" },
  { node: "worker-2", nic: i40e("0000:3b:00.0"), firstPort: "enp59s0f0" },
];

const alertsWithinMs = 120_000;

/** What the docs give to a Prometheus that nobody configures for the cluster. */
const reader = {
  apiVersion: "v1",
  kind: "List",
  items: [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "prometheus", namespace } },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "read-metrics" },
      rules: [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }],
    },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: "read-metrics" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "read-metrics" },
      subjects: [{ kind: "ServiceAccount", name: "prometheus", namespace }],
    },
  ],
};

/** The flags by which a process serves metrics as the chart's containers do. */
export function metricsFlags(port: number): readonly string[] {
  return ["--metrics-address", `127.0.0.1:${port}`, "--metrics-secure"];
}

/** `operatorPort` is that of the operator's metrics. Rejects when a step does not succeed in time. */
export async function runMonitoringDemo(
  testCluster: TestCluster,
  narrator: Narrator,
  operatorPort: number,
): Promise<void> {
  narrator.scene("Two nodes, and Prometheus with a token that may read metrics and nothing else");
  await createOperatorConfig(testCluster);
  const ports = await findFreePorts(monitored.length);
  const started = new Map<string, StartedNode>();
  for (const [index, each] of monitored.entries())
    started.set(each.node, await startNode(each, testCluster, metricsFlags(ports[index] ?? 0)));
  const news = testCluster.use(logNodeChanges(testCluster.transport, narrator));
  const all = { nodes: monitored.length, withinMs: 30_000 };
  await eachNode(news, all, "discovered", ({ status }) => status?.syncStatus === "Succeeded");
  const targets = [
    { job: "operator", namespace, port: operatorPort },
    ...monitored.map(({ node }, index) => ({ job: node, namespace, port: ports[index] ?? 0 })),
  ];
  const prometheus = testCluster.use(await scrape(testCluster, targets));
  narrator.line("prometheus", `version ${prometheus.version} with the rules of the chart, at ${prometheus.url}`);
  await eventually("all targets are scraped", () => hasValues(prometheus, `sum(up) == ${targets.length}`));
  narrator.line("prometheus", `scrapes ${targets.length} processes over TLS`);

  narrator.scene("A policy configures four VFs on each node; no alert fires");
  const spec = policySpec({ pfNames: ["uplink0"] }, { numVfs: 4, resourceName: "fast" });
  await applyPolicy(testCluster, "fast", spec);
  await policyIs(news, "fast", "Ready");
  await eventually("Prometheus knows it", () => hasValues(prometheus, "max(switchyard_ready_nodes) == 2"));
  await untilQuiet(prometheus); // minutes of the start are seconds here, so alerts about it can fire
  narrator.line("prometheus", "no alert is firing");
  await showDashboard(prometheus, narrator, Infinity);

  narrator.scene("numVfs changes from 4 to 6, and the firmware of worker-2 refuses it");
  const failing = started.get("worker-2");
  const fault = failing?.kernel.fault({ port: "sriov", method: "setNumVfs" }, { code: "EIO" });
  await testCluster.kubectl(["patch", "sriovnetworknodepolicy", "fast", "--type=merge", "-p", '{"spec":{"numVfs":6}}']);
  const alerts = await eventually("the alerts fire", () => firingOf(prometheus, "SwitchyardNodesFailed"), {
    withinMs: alertsWithinMs,
    everyMs: 500,
  });
  for (const { name, annotations } of alerts) narrator.line("alert", `${name} fires: ${annotations["summary"] ?? ""}`);
  await showDashboard(prometheus, narrator);

  narrator.scene("The runbook of SwitchyardNodesFailed: its commands");
  for (const command of await runbookCommands("SwitchyardNodesFailed"))
    await runCommand(testCluster, narrator, command);

  narrator.scene("The card of worker-2 is repaired; its daemon starts again, as doctor says, and the alerts end");
  fault?.lift();
  await failing?.restartDaemon();
  narrator.line("worker-2", "the firmware accepts changes again, and the pod of the config daemon is replaced");
  await policyIs(news, "fast", "Ready", alertsWithinMs);
  await untilQuiet(prometheus);
  narrator.line("prometheus", "no alert is firing");
  await showDashboard(prometheus, narrator);
}

/** Starts Prometheus with a token as docs/guide/monitoring.md describes it. */
async function scrape(testCluster: TestCluster, targets: readonly ScrapeTarget[]): Promise<Prometheus> {
  await testCluster.kubectl(["apply", "-f", "-"], reader);
  const token = await testCluster.cluster.kubectl(["create", "token", "prometheus", "-n", namespace]);
  const tokenFile = join(testCluster.directory, "prometheus-token");
  await writeFile(tokenFile, token.trim(), { mode: 0o600 });
  const rules = await readFile(join(findWorkspaceRoot(), "charts/switchyard/alerts/switchyard.yaml"), "utf8");
  const directory = join(testCluster.directory, "prometheus");
  return startPrometheus({ directory, tokenFile, targets, rules: quicker(rules), intervalSeconds: 1 });
}

/** Makes seconds of the minutes of alerting rules, and minutes of their hours. */
export function quicker(rules: string): string {
  return rules.replaceAll(/(for: |\[)(\d+)([mh])\b/g, (_, before: string, count: string, unit: string) => {
    return `${before}${count}${unit === "h" ? "m" : "s"}`;
  });
}

async function hasValues(prometheus: Prometheus, expression: string): Promise<boolean> {
  return (await prometheus.query(expression)).length > 0;
}

async function firing(prometheus: Prometheus): Promise<readonly ActiveAlert[]> {
  return (await prometheus.alerts()).filter(({ state }) => state === "firing");
}

/** Waits until no alert fires. The error names those that do. */
async function untilQuiet(prometheus: Prometheus): Promise<void> {
  const isQuiet = async (): Promise<boolean> => {
    const names = (await firing(prometheus)).map(({ name }) => name);
    if (names.length > 0) throw new Error(`firing: ${names.join(", ")}`);
    return true;
  };
  await eventually("no alert fires", isQuiet, { withinMs: alertsWithinMs, everyMs: 500 });
}

/** The alerts that fire, once the one of this name is among them. */
async function firingOf(prometheus: Prometheus, name: string): Promise<readonly ActiveAlert[] | undefined> {
  const found = await firing(prometheus);
  return found.some((alert) => alert.name === name) ? found : undefined;
}

/** Shows the queries of the first panels of the dashboard that have a value now, as a table. */
async function showDashboard(prometheus: Prometheus, narrator: Narrator, panels = overviewPanels): Promise<void> {
  const rows: (readonly string[])[] = [];
  for (const { title, expressions } of (await readPanels()).slice(0, panels)) {
    for (const expression of expressions) {
      const samples = (await prometheus.query(quicker(expression))).filter(({ value }) => value !== "NaN");
      const shown = samples.slice(0, mostValues).map(({ labels, value }) => {
        const { __name__: _, instance: _instance, job: _job, namespace: _namespace, ...own } = labels;
        const text = Object.values(own).join(" ");
        return `${text === "" ? "" : `${text}: `}${Number(Number(value).toPrecision(3))}`;
      });
      if (samples.length > mostValues) shown.push(`${samples.length - mostValues} more`);
      if (shown.length > 0) rows.push([title, shown.join(", ")]);
    }
  }
  narrator.output(renderTable(["panel of the dashboard", "values"], rows));
}

const mostValues = 3;

/** The panels that say whether the cluster is well. */
const overviewPanels = 10;

/** The commands on the page of an alert. */
async function runbookCommands(alert: string): Promise<readonly string[]> {
  const page = await readFile(join(findWorkspaceRoot(), `docs/reference/alerts/${alert}.md`), "utf8");
  const [, block = ""] = /```sh\n([\s\S]*?)```/.exec(page) ?? [];
  return block.split("\n").filter((line) => line !== "");
}

async function runCommand(testCluster: TestCluster, narrator: Narrator, command: string): Promise<void> {
  const [program, ...args] = command.split(" ");
  if (program === "kubectl") {
    await testCluster.kubectl(args);
    return;
  }
  narrator.line("$", command);
  narrator.output(await runSwitchyard(testCluster, args));
}
