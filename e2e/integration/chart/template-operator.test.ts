// SPDX-License-Identifier: Apache-2.0
/** The chart's operator has the rights of operatorIdentity, reads all variables that the chart sets, and has the product's version. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { operatorIdentity, type ComponentSettings } from "@switchyard/render";
import { findWorkspaceRoot } from "@switchyard/testing";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { componentSettings } from "../../src/operator/identity-objects.ts";
import { fieldAt } from "../../src/api/plain-api.ts";
import {
  chartDirectory,
  chartTemplates,
  namespace,
  only,
  type ChartObject,
  type ChartTemplates,
} from "./template-chart.ts";

const operator = "sw-sriov-network-operator";
let chart: ChartTemplates;

beforeAll(async () => {
  chart = await chartTemplates();
});
afterAll(() => {
  chart[Symbol.dispose]();
});

/** Everything that adds variables to the operator. */
const everything = {
  operator: {
    ovsdbSocketPath: "/run/ovs/db.sock",
    maxCacheAge: "5m",
    externalDrainer: { enabled: true },
    metricsExporter: { prometheusOperator: { enabled: true } },
  },
};
const admission = (certificates: object) => ({
  admissionControllers: { enabled: true, certificates, tolerations: [{ operator: "Exists" }] },
});
const pem = { caCrt: "ca", tlsCrt: "crt", tlsKey: "key" };
const secretNames = { operator: "my-webhook", injector: "my-injector" };
const sources = {
  selfMade: admission({ secretNames }),
  certManager: admission({ certManager: { enabled: true } }),
  custom: admission({ secretNames, custom: { enabled: true, operator: pem, injector: pem } }),
};

function envOf(objects: readonly ChartObject[]): Readonly<Record<string, unknown>> {
  const env = fieldAt(only(objects, "Deployment"), "spec", "template", "spec", "containers", 0, "env");
  if (!Array.isArray(env)) throw new Error("no env");
  const pairs = env.map((variable): [string, unknown] => [
    String(fieldAt(variable, "name")),
    fieldAt(variable, "value") ?? fieldAt(variable, "valueFrom"),
  ]);
  expect(pairs.map(([name]) => name)).toEqual([...new Set(pairs.map(([name]) => name))]);
  return Object.fromEntries(pairs);
}

describe("the operator's rights", () => {
  const settingsOf = (certificates: ComponentSettings["webhook"]["certificates"], names = secretNames) => ({
    webhook: { ...componentSettings.webhook, certificates, secretName: names.operator },
    injector: { ...componentSettings.injector, certificates, secretName: names.injector },
  });

  it.each([
    {
      of: "self-made certificates",
      values: { operator: sources.selfMade },
      settings: settingsOf({ kind: "self-made" }),
    },
    { of: "cert-manager", values: { operator: sources.certManager }, settings: settingsOf({ kind: "cert-manager" }) },
    {
      of: "certificates as values",
      values: { operator: sources.custom },
      settings: settingsOf({ kind: "given", caBundle: "Y2E=" }),
    },
    {
      of: "OpenShift",
      values: { operator: { ...sources.selfMade, clusterType: "openshift" } },
      settings: { clusterType: "openshift" as const, ...settingsOf({ kind: "service-ca" }) },
    },
  ])("are those of operatorIdentity with $of", async ({ values, settings }) => {
    const rendered = await chart.objects(values);
    const wanted = operatorIdentity({ ...componentSettings, ...settings, namespace, operatorServiceAccount: operator });
    for (const object of wanted) {
      const own = only(rendered, object.kind, object.metadata.name);
      expect(sorted(own["rules"])).toEqual(sorted(fieldAt(object, "rules")));
      for (const field of ["roleRef", "subjects", "spec"]) expect(own[field]).toEqual(fieldAt(object, field));
    }
    expect(wanted).toHaveLength(7);
  });
});

/** Rules have no order. */
function sorted(rules: unknown): unknown {
  return Array.isArray(rules) ? rules.map((rule) => JSON.stringify(rule)).toSorted() : rules;
}

describe("the operator's variables", () => {
  const documented = readFileSync(join(findWorkspaceRoot(), "docs/reference/flags.md"), "utf8");
  const [, all = "", own = ""] = /## All services\n([^]*?)\n## [^]*?## operator\n([^]*?)\n##/.exec(documented) ?? [];
  /** From `--help` of the operator. */
  const known = [...`${all}${own}`.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name]) => name ?? "");

  it("are variables of its flags, and all except those that a pod does not need", async () => {
    const [withCa, withCertManager] = [
      envOf(
        await chart.objects({
          operator: {
            ...everything.operator,
            ...sources.custom,
            kubeletDirectory: "/var/lib/k0s/kubelet",
            attachNetworks: false,
          },
        }),
      ),
      envOf(await chart.objects({ operator: { ...everything.operator, ...sources.certManager } })),
    ];
    const set = new Set([...Object.keys(withCa), ...Object.keys(withCertManager)]);
    expect(set.size).toBeGreaterThan(35);
    expect([...set].filter((name) => !known.includes(name))).toEqual(["MALLOC_ARENA_MAX"]);
    expect(known.filter((name) => !set.has(name))).toEqual(["KUBECONFIG"]);
  });

  it("have the placement of webhook and injector, if there is one", async () => {
    const placed = { nodeSelector: { pool: "infra" }, tolerations: [{ key: "infra", operator: "Exists" }] };
    const admissionControllers = { enabled: true, ...placed };
    const name = "ADMISSION_CONTROLLERS_PLACEMENT";
    expect(envOf(await chart.objects({ operator: { admissionControllers: { enabled: true } } }))[name]).toBeUndefined();
    const text = envOf(await chart.objects({ operator: { admissionControllers } }))[name];
    expect(JSON.parse(String(text))).toEqual(placed);
  });

  it("are replaced by extraEnv, and never repeated", async () => {
    const valueFrom = { secretKeyRef: { name: "proxy", key: "url" } };
    const extraEnv = { LOG_LEVEL: "debug", DEV_MODE: true, HTTPS_PROXY: { valueFrom } };
    expect(envOf(await chart.objects({ operator: { extraEnv } }))).toMatchObject({
      LOG_LEVEL: "debug",
      DEV_MODE: "true",
      HTTPS_PROXY: valueFrom,
    });
  });

  it.each([
    { values: {}, address: ":8080", port: 8080 },
    { values: { metrics: { port: 9999 } }, address: ":9999", port: 9999 },
    { values: { metrics: { enabled: false } }, address: "0", port: undefined },
    { values: { operator: { metricsBindAddress: "0" } }, address: "0", port: undefined },
    { values: { operator: { metricsBindAddress: "[::]:8443" } }, address: "[::]:8443", port: 8443 },
  ])("serve metrics at $address with $values", async ({ values, address, port }) => {
    const objects = await chart.objects(values);
    expect(envOf(objects)["METRICS_ADDRESS"]).toBe(address);
    const ports = fieldAt(only(objects, "Deployment"), "spec", "template", "spec", "containers", 0, "ports");
    expect(ports).toEqual([
      { name: "health", containerPort: 8081, protocol: "TCP" },
      ...(port === undefined ? [] : [{ name: "metrics", containerPort: port, protocol: "TCP" }]),
    ]);
    const services = objects.filter(({ kind }) => kind === "Service");
    expect(services.map((service) => fieldAt(service, "spec", "ports", 0, "port"))).toEqual(
      port === undefined ? [] : [port],
    );
  });
});

describe("the chart's metadata", () => {
  it("have the version of the product", () => {
    const metadata: unknown = parse(readFileSync(join(chartDirectory, "Chart.yaml"), "utf8"));
    const product: unknown = JSON.parse(readFileSync(join(findWorkspaceRoot(), "package.json"), "utf8"));
    expect(metadata).toMatchObject({
      version: fieldAt(product, "version"),
      appVersion: fieldAt(product, "version"),
      kubeVersion: ">=1.30.0-0",
    });
  });
});
