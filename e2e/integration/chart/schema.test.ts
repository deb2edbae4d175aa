// SPDX-License-Identifier: Apache-2.0
/**
 * values.schema.json accepts each default, and rejects values of a wrong type, with their names. Helm checks the schema before it
 * renders anything. Values that do not exist have no effect, as with upstream's chart, and the notes name them.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { isRecord } from "@switchyard/kube";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { prepareHelm } from "../../src/helm/helm.ts";
import type { Values } from "../../src/helm/helm.ts";
import { chartDirectory, chartTemplates, namespace, type ChartTemplates } from "./template-chart.ts";

let chart: ChartTemplates;

beforeAll(async () => {
  chart = await chartTemplates();
});
afterAll(() => {
  chart[Symbol.dispose]();
});

/** Values with this one at a path such as "operator.tls.minVersion". */
function at(path: string, value: unknown): Values {
  return path.split(".").reduceRight((inner: unknown, key) => ({ [key]: inner }), value) as Values;
}

function merge(first: Values, second: Values): Values {
  const merged = Object.entries(second).map(([key, value]) => {
    const before = first[key];
    return [key, isRecord(before) && isRecord(value) ? merge(before, value) : value] as const;
  });
  return { ...first, ...Object.fromEntries(merged) };
}

/** Paths of all groups of values.yaml, the root as "". */
function groupsIn(values: unknown, path = ""): readonly string[] {
  if (!isRecord(values) || (Object.keys(values).length === 0 && path !== "images")) return [];
  return [
    path,
    ...Object.entries(values).flatMap(([key, value]) => groupsIn(value, path === "" ? key : `${path}.${key}`)),
  ];
}

const defaults: unknown = parse(readFileSync(join(chartDirectory, "values.yaml"), "utf8"));

describe("helm lint", () => {
  it.each(["helm3", "helm4"] as const)("has no complaint: %s", async (version) => {
    const helm = await prepareHelm(version, { namespace, directory: chart.directory });
    const { status, stdout } = await helm.try(["lint", "--strict", "--kube-version", "1.30.0", chartDirectory]);
    expect(stdout).toContain("0 chart(s) failed");
    expect(stdout).not.toMatch(/\[(WARNING|ERROR)\]/);
    expect(status).toBe(0);
  });
});

describe("misspelt values", () => {
  // Their members are names that users choose, or parts of Kubernetes objects that the API server checks.
  const open = new Set([
    "global",
    "operator.podSecurityContext",
    "operator.securityContext",
    "metrics.dashboard.labels",
  ]);
  const isInside = (path: string) => /\.(requests|nodeAffinity|seccompProfile|capabilities)\b/.test(path);
  const closed = groupsIn(defaults).filter((path) => !open.has(path) && !isInside(path));
  const isPart = (path: string) => /\.(resources|strategy|affinity)$/.test(path);
  const groups = closed.filter((path) => !isPart(path));

  it("are named by the notes, in each group, and change nothing", async () => {
    expect(groups).toEqual(expect.arrayContaining(["", "operator", "images", "hooks"]));
    expect(groups.length).toBeGreaterThan(25);
    const misspelt = groups.map((path) => (path === "" ? "misspelt" : `${path}.misspelt`));
    const values = misspelt.map((path) => at(path, "x")).reduce(merge);
    const notes = await chart.notes(values);
    expect(notes).toContain(`WARNING: ${misspelt.toSorted().join(", ")}: unknown to this chart, without an effect.`);
    expect(await chart.objects(values)).toEqual(await chart.objects());
    expect(await chart.notes()).not.toContain("WARNING");
  });

  it.each([
    ...closed.filter(isPart).map((path) => [`${path}.misspelt`, {}] as const),
    ["images.operator.tagg", "x"],
    ["images.sriovCni.pullPolicy", "Always"], // the operator deploys it, not the chart
    ["operator.tolerations", [{ key: "a", operators: "Exists" }]],
    ["operator.affinity.nodeAfinity", {}],
    ["operator.resources.request", {}],
    ["imagePullSecrets", [{ nme: "a" }]],
  ])("are rejected in parts of Kubernetes objects: %s", async (path, value) => {
    expect(await chart.refusal(at(path, value))).toContain("values don't meet the specifications of the schema");
  });
});

describe("wrong values", () => {
  it.each([
    ["operator.clusterType", "k8s"],
    ["operator.tls.minVersion", "VersionTLS11"],
    ["operator.replicas", "two"],
    ["operator.replicas", -1],
    ["operator.resourcePrefix", ""],
    ["operator.cniBinPath", "opt/cni"],
    ["operator.staleNodeStateCleanupDelayMinutes", "soon"],
    ["operator.metricsExporter.port", "99999x"],
    ["operator.metricsExporter.port", 70_000],
    ["operator.metricsBindAddress", "everywhere"],
    ["operator.extraEnv", { "NO SPACE": "x" }],
    ["operator.extraEnv", { NAME: { value: "x" } }],
    ["operator.logLevel", "loud"],
    ["sriovOperatorConfig.featureGates", { parallelNicConfig: "true" }],
    ["sriovOperatorConfig.logLevel", 3],
    ["sriovOperatorConfig.configurationMode", "cron"],
    ["afxdpOperatorConfig.provider", "other"],
    ["afxdpOperatorConfig.loader", "other"],
    ["afxdpOperatorConfig.logLevel", 3],
    ["sriovOperatorConfig.supportedNics", "all"],
    ["sriovOperatorConfig.disablePlugins", ["intel"]],
    ["images.operator.digest", "sha256:short"],
    ["images.operator.tag", "a b"],
    ["commonLabels", { level: 1 }],
    ["imagePullSecrets", "registry"],
    ["eveBridge.directories", ["relative"]],
    ["networkPolicy.apiServerPorts", [0]],
  ])("are rejected with their path: %s = %j", async (path, value) => {
    const said = await chart.refusal(at(path, value));
    expect(said).toContain("values don't meet the specifications of the schema");
    expect(said).toContain(`at '/${path.split(".").slice(0, 2).join("/")}`);
  });
});

describe("values that look different and mean the same", () => {
  it.each([
    ["operator.metricsExporter.port", 9110],
    ["operator.staleNodeStateCleanupDelayMinutes", 30],
    ["operator.admissionControllers.networkPolicy.operator.port", 6443],
  ])("are accepted: %s as a number", async (path, value) => {
    expect(await chart.objects(at(path, value))).toEqual(await chart.objects());
  });
});
