// SPDX-License-Identifier: Apache-2.0
/** kubeconform accepts what the chart renders, with the schemas of the API server. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { goPrograms } from "@switchyard/go-programs";
import { type ControlPlane, runProgram, startControlPlane } from "@switchyard/testing";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Values } from "../../src/helm/helm.ts";
import { schemaFileName, writeSchemaFiles } from "./schema-files.ts";
import { chartDirectory, chartTemplates, type ChartObject, type ChartTemplates } from "./template-chart.ts";

let cluster: ControlPlane;
let chart: ChartTemplates;

beforeAll(async () => {
  chart = await chartTemplates();
  cluster = await startControlPlane();
  await cluster.applyCrds(join(chartDirectory, "crds"));
  const openApi: unknown = JSON.parse(await cluster.kubectl(["get", "--raw", "/openapi/v2"]));
  expect(await writeSchemaFiles(openApi, join(chart.directory, "schemas"))).toBeGreaterThan(50);
}, 180_000);
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  chart[Symbol.dispose]();
});

/** What kubeconform says about the objects. */
async function judge(objects: readonly ChartObject[]): Promise<string> {
  const file = join(chart.directory, "objects.yaml");
  await writeFile(file, objects.map((object) => stringify(object)).join("---\n"));
  const program = join(await goPrograms("kubeconform"), "kubeconform");
  const location = join(chart.directory, "schemas", schemaFileName);
  const { stdout } = await runProgram(program, ["-strict", "-summary", "-schema-location", location, file]);
  return stdout;
}

/** Everything that the chart can render without kinds of other projects. */
const everything: Values = {
  operator: { replicas: 2, podDisruptionBudget: { enabled: true }, extraEnv: { TZ: "UTC" } },
  metrics: { dashboard: { enabled: true } },
  networkPolicy: { enabled: true },
  sriovOperatorConfig: { deploy: true, featureGates: { metricsExporter: true } },
  afxdpOperatorConfig: { deploy: true, configDaemonNodeSelector: { afxdp: "true" } },
  supportedExtraNICs: ['MyNIC: "8086 1521 1520"'],
  eveBridge: { enabled: true },
  ovnOffload: { enabled: true },
};

describe("kubeconform", () => {
  it.each([
    { title: "with the defaults", values: {} },
    { title: "with everything", values: everything },
    { title: "on OpenShift", values: { ...everything, operator: { clusterType: "openshift" } } },
  ])("accepts the chart $title", async ({ values }) => {
    const objects = await chart.objects(values);
    expect(await judge(objects)).toContain(`Valid: ${objects.length}, Invalid: 0, Errors: 0, Skipped: 0`);
  });

  it("refuses an object with a misspelt field", async () => {
    const objects = await chart.objects();
    const wrong = objects.map((object) => (object["kind"] === "Deployment" ? { ...object, specs: {} } : object));
    const said = await judge(wrong);
    expect(said).toContain("additional properties 'specs' not allowed");
    expect(said).toContain(`Valid: ${objects.length - 1}, Invalid: 1, Errors: 0, Skipped: 0`);
  });
});
