// SPDX-License-Identifier: Apache-2.0
/**
 * Values of upstream's chart have the same meaning in Switchyard's chart: both charts are rendered with the same values,
 * and what they render is compared. The API server takes what Switchyard's chart renders.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { collectionPath, isRecord, type ResourceType } from "@switchyard/kube";
import { namespace } from "@switchyard/test-cluster";
import { eventually, findWorkspaceRoot } from "@switchyard/testing";
import { join } from "node:path";
import { prepareHelm, upstreamChart, upstreamReleases, type Helm, type Values } from "../../src/helm/helm.ts";
import { pathsOf, readChartValues, readUpstreamRows } from "../../src/helm/upstream-values.ts";
import { certManagerCrds, monitoringCrds } from "../../src/operator/identity-objects.ts";
import { startUpstreamCluster, type UpstreamCluster } from "../../src/operator/upstream-cluster.ts";
import { readRendered, type Rendered } from "./rendered-chart.ts";

const chart = join(findWorkspaceRoot(), "charts/switchyard");
/** Images of the programs that Switchyard replaces. The chart refuses upstream's. */
const replaced = ["operator", "sriovConfigDaemon", "webhook"];
/** Variables of upstream's operator that Switchyard's does not read. */
const unread = ["WATCH_NAMESPACE", "OPERATOR_NAME", "POD_NAME", "NODE_NAME", "RELEASE_VERSION"];

let testCluster: UpstreamCluster;
let helm: Helm;
/** Objects that the API server has already taken, as JSON. */
const taken = new Set<string>();
let resources: readonly ResourceType[];

beforeAll(async () => {
  testCluster = await startUpstreamCluster();
  const items = [...monitoringCrds, ...certManagerCrds];
  await testCluster.kubectl(["create", "-f", "-"], { apiVersion: "v1", kind: "List", items });
  helm = await prepareHelm("helm4", { namespace, directory: testCluster.directory });
  resources = await readResources();
}, 120_000);

afterAll(async () => {
  await testCluster[Symbol.asyncDispose]();
});

const own = { sriovOperatorConfig: { deploy: true } };

/** A value of upstream's chart that is changed: its path and the new value; `with` has values that it needs. */
interface ValueChange {
  readonly path: string;
  readonly value: unknown;
  readonly with?: Values;
}

const controllers = { operator: { admissionControllers: { enabled: true } } };
const certManager = {
  operator: { admissionControllers: { enabled: true, certificates: { certManager: { enabled: true } } } },
};
const exporter = { operator: { metricsExporter: { prometheusOperator: { enabled: true } } } };
const pem = (name: string) => ({ caCrt: `${name} CA\n`, tlsCrt: `${name} certificate\n`, tlsKey: `${name} key\n` });

/** Each value of upstream's chart, changed alone. */
const changes: readonly ValueChange[] = [
  { path: "operator.tolerations", value: [{ key: "infra", operator: "Exists" }] },
  { path: "operator.nodeSelector", value: { "node-role.kubernetes.io/infra": "" } },
  {
    path: "operator.affinity",
    value: {
      nodeAffinity: null,
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "zone" }] },
    },
  },
  { path: "operator.nameOverride", value: "other" },
  { path: "operator.fullnameOverride", value: "other" },
  { path: "nameOverride", value: "vfs" },
  { path: "fullnameOverride", value: "my-operator" },
  { path: "operator.resourcePrefix", value: "nvidia.com" },
  { path: "operator.cniBinPath", value: "/var/lib/cni/bin" },
  { path: "operator.clusterType", value: "openshift" },
  { path: "operator.staleNodeStateCleanupDelayMinutes", value: "5" },
  { path: "operator.metricsExporter.port", value: "9111" },
  { path: "operator.metricsExporter.certificates.secretName", value: "exporter-tls" },
  { path: "operator.metricsExporter.prometheusOperator.enabled", value: true },
  { path: "operator.metricsExporter.prometheusOperator.serviceAccount", value: "prom", with: exporter },
  { path: "operator.metricsExporter.prometheusOperator.namespace", value: "observe", with: exporter },
  { path: "operator.metricsExporter.prometheusOperator.deployRules", value: true, with: exporter },
  { path: "operator.admissionControllers.enabled", value: true },
  {
    path: "operator.admissionControllers.certificates.secretNames",
    value: { operator: "webhook-tls", injector: "injector-tls" },
    with: controllers,
  },
  { path: "operator.admissionControllers.certificates.certManager.enabled", value: true, with: controllers },
  {
    path: "operator.admissionControllers.certificates.certManager.generateSelfSigned",
    value: true,
    with: certManager,
  },
  {
    path: "operator.admissionControllers.certificates.custom",
    value: { enabled: true, operator: pem("webhook"), injector: pem("injector") },
    with: controllers,
  },
  { path: "sriovOperatorConfig.deploy", value: false },
  { path: "sriovOperatorConfig.configDaemonNodeSelector", value: { "example.com/nic": "true", pool: "a" } },
  { path: "sriovOperatorConfig.logLevel", value: 0 },
  { path: "sriovOperatorConfig.disableDrain", value: true },
  // As --set-string and templates give them.
  { path: "sriovOperatorConfig.logLevel", value: "1" },
  { path: "sriovOperatorConfig.disableDrain", value: "true" },
  { path: "sriovOperatorConfig.configurationMode", value: "systemd" },
  { path: "sriovOperatorConfig.featureGates", value: { parallelNicConfig: true, metricsExporter: false } },
  { path: "supportedExtraNICs", value: ['MyNIC: "8086 1521 1520"', 'Other: "15b3 0001 0002"'] },
  { path: "imagePullSecrets", value: ["registry", "mirror"] },
  {
    path: "extraDeploy",
    value: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "extra" }, data: { at: "{{ .Release.Name }}" } }],
  },
  ...["sriovCni", "ibSriovCni", "ovsCni", "rdmaCni", "sriovDevicePlugin"].map(imageChange),
  ...["resourcesInjector", "metricsExporter", "metricsExporterKubeRbacProxy"].map(imageChange),
];

function imageChange(name: string): ValueChange {
  return {
    path: `images.${name}`,
    value: `mirror.example.com:5000/team/${name.toLowerCase()}:v1@sha256:${"0".repeat(64)}`,
  };
}

/** Values that upstream's chart got after 1.6, and the variables of the operator that they set. */
const newer: readonly (ValueChange & { readonly env: Readonly<Record<string, unknown>> })[] = [
  { path: "operator.tls.minVersion", value: "VersionTLS12", env: { TLS_MIN_VERSION: "VersionTLS12" } },
  {
    path: "operator.tls.cipherSuites",
    value: "TLS_AES_128_GCM_SHA256",
    env: { TLS_CIPHER_SUITES: "TLS_AES_128_GCM_SHA256" },
  },
  { path: "operator.tls.curvePreferences", value: "X25519", env: { TLS_CURVE_PREFERENCES: "X25519" } },
  { path: "operator.externalDrainer.enabled", value: true, env: { USE_EXTERNAL_DRAINER: "true" } },
  {
    path: "operator.extraEnv",
    value: { RESOURCE_PREFIX: "example.com", MORE: "1" },
    env: { RESOURCE_PREFIX: "example.com", MORE: "1" },
  },
  {
    path: "operator.admissionControllers.networkPolicy.operator.port",
    value: "8443",
    with: controllers,
    env: { OPERATOR_WEBHOOK_NETWORK_POLICY_PORT: "8443", INJECTOR_WEBHOOK_NETWORK_POLICY_PORT: "6443" },
  },
  {
    path: "operator.admissionControllers.networkPolicy.injector.port",
    value: "8443",
    with: controllers,
    env: { OPERATOR_WEBHOOK_NETWORK_POLICY_PORT: "6443", INJECTOR_WEBHOOK_NETWORK_POLICY_PORT: "8443" },
  },
];

describe("the values file of a release of upstream", () => {
  it.each(upstreamReleases)("of %s is refused only because of the images that Switchyard replaces", async (release) => {
    const { status, stderr } = await helm.try(["template", "sriov", chart], await valuesOf(release));
    expect([status, stderr]).toEqual([1, expect.stringMatching(/images\.operator is .*an image of the Go SR-IOV/)]);
  });

  it.each(upstreamReleases)("of %s has the same meaning without these images", async (release) => {
    const values = withoutReplacedImages(await valuesOf(release));
    await expectSameMeaning(await upstreamChart(release), merge(values, own));
  });
});

describe("a value of upstream's chart, changed alone", () => {
  it.each(changes)("has the same meaning: $path", async ({ path, value, with: needed = {} }) => {
    await expectSameMeaning(await upstreamChart("1.6.0"), merge(merge(own, needed), at(path, value)));
  });

  it.each(newer)("sets the operator's variables: $path", async ({ path, value, with: needed = {}, env }) => {
    const rendered = await render(merge(merge(own, needed), at(path, value)));
    expect(rendered.env).toMatchObject(env);
    await expectTaken(rendered);
  });

  it("sets the operator's arguments: operator.metricsBindAddress", async () => {
    const rendered = await render(merge(own, at("operator.metricsBindAddress", ":9999")));
    expect(JSON.stringify(rendered.objects)).toContain(":9999");
    await expectTaken(rendered);
  });

  it("sets fields of the SriovOperatorConfig: disablePlugins, configDaemonEnvVars", async () => {
    const variables = { TZ: "UTC", WORKERS: 5, IS_VERBOSE: true };
    const config = { disablePlugins: ["mellanox"], configDaemonEnvVars: variables };
    const rendered = await render(merge(own, { sriovOperatorConfig: config }));
    const texts = { TZ: "UTC", WORKERS: "5", IS_VERBOSE: "true" };
    expect(rendered.config).toMatchObject({ ...config, configDaemonEnvVars: texts });
    await expectTaken(rendered);
  });
});

describe("the table of upstream's values", () => {
  it("has a row for each key of each release, and no other than those that are newer", async () => {
    const all = await Promise.all(upstreamReleases.map(async (release) => pathsOf(await valuesOf(release))));
    const keys = new Set(all.flat());
    const rows = (await readUpstreamRows()).map(({ path }) => path);
    expect([...keys].filter((key) => !rows.includes(key))).toEqual([]);
    const afterRelease = [
      ...newer.map(({ path }) => path),
      ...[
        "operator.metricsBindAddress",
        "sriovOperatorConfig.configDaemonEnvVars",
        "sriovOperatorConfig.disablePlugins",
      ],
    ];
    expect(rows.filter((row) => !keys.has(row)).toSorted()).toEqual(afterRelease.toSorted());
    expect(new Set(rows).size).toBe(rows.length);
  });

  it("says truly what is refused", async () => {
    const values: Readonly<Record<string, unknown>> = {
      "operator.tls.minVersion": "VersionTLS11",
      ...Object.fromEntries(
        replaced.map((name) => [`images.${name}`, `example.com/sriov-network-operator-webhook:v1`]),
      ),
    };
    const rows = await readUpstreamRows();
    const refused = rows.filter(({ treatment }) => treatment === "refused").map(({ path }) => path);
    expect(refused.toSorted()).toEqual(Object.keys(values).toSorted());
    for (const path of refused) {
      const { status, stderr } = await helm.try(["template", "sriov", chart], at(path, values[path]));
      expect([path, status]).toEqual([path, 1]);
      expect(stderr).toContain(path.startsWith("images.") ? `${path} is ` : `'/${path.replaceAll(".", "/")}'`);
    }
  });
});

describe("wrong values", () => {
  it("are refused with the paths of values of a wrong type, for each key of upstream's values", async () => {
    const paths = await ownPaths();
    const values = paths.map((path) => at(path, path === "extraDeploy" ? 7 : [{ wrong: [1] }])).reduce(merge);
    const { status, stderr } = await helm.try(["template", "sriov", chart], values);
    expect(status).toBe(1);
    for (const path of paths) expect(stderr).toContain(`'/${path.split(".").join("/")}`);
  });
});

/** Renders both charts and compares what they have in common. */
async function expectSameMeaning(upstream: string, values: Values): Promise<void> {
  const [manifest, ours] = await Promise.all([helm.run(["template", "sriov", upstream], values), render(values)]);
  const theirs = readRendered(manifest);
  expect(ours.deployment.name).toEqual(theirs.deployment.name);
  expect(ours.deployment.containers).toEqual(theirs.deployment.containers);
  expect(ours.deployment.selector).toEqual(theirs.deployment.selector);
  // Upstream also prefers nodes with the label "master", which Kubernetes 1.30 does not set any more.
  const isPlaced = isRecord(values["operator"]) && "affinity" in values["operator"];
  const placement = ({ deployment }: Rendered) => ({
    ...deployment.placement,
    ...(!isPlaced && { affinity: undefined }),
  });
  expect(placement(ours)).toEqual(placement(theirs));
  expect(ours.env).toMatchObject(comparable(theirs, values));
  expect(ours.config === undefined).toBe(theirs.config === undefined);
  if (theirs.config !== undefined) expect(ours.config).toMatchObject(theirs.config);
  expect(ours.nics).toMatchObject(theirs.nics);
  expect(ours.certificates).toMatchObject(theirs.certificates);
  await expectTaken(ours);
}

/** The variables of upstream's operator that Switchyard's must have, too. */
function comparable({ env }: Rendered, values: Values): Readonly<Record<string, unknown>> {
  const images = Object.entries(isRecord(values["images"]) ? values["images"] : {});
  const set = images.filter(([name]) => !replaced.includes(name)).map(([, image]) => image);
  return Object.fromEntries(
    Object.entries(env).filter(([name, value]) => {
      if (unread.includes(name)) return false;
      // Switchyard's chart has its own default images. Its operator reads the Secrets itself.
      if (name.endsWith("_IMAGE")) return set.includes(value);
      return !name.endsWith("_CA_CRT");
    }),
  );
}

async function render(values: Values): Promise<Rendered> {
  return readRendered(await helm.run(["template", "sriov", chart], values));
}

/** Creates each object that no earlier test has created, without storing it. */
async function expectTaken({ objects }: Rendered): Promise<void> {
  for (const object of objects) {
    const body = JSON.stringify(object);
    if (taken.has(body)) continue;
    const typeOf = () =>
      resources.find(({ group, version, kind }) => {
        return object["kind"] === kind && object["apiVersion"] === (group === "" ? version : `${group}/${version}`);
      });
    // The API server serves an established CustomResourceDefinition some time later.
    const type =
      typeOf() ??
      (await eventually(`the API server serves the kind of ${body}`, async () => {
        resources = await readResources();
        return typeOf();
      }));
    const path = collectionPath(type, type.namespaced ? namespace : undefined);
    const query = { dryRun: "All", fieldValidation: "Strict" } as const;
    await testCluster.transport.request({ method: "POST", path, query, body: object });
    taken.add(body);
  }
}

/** Returns all kinds that the API server serves, from kubectl. */
async function readResources(): Promise<readonly ResourceType[]> {
  const text = await testCluster.kubectl(["api-resources", "--verbs=create", "--no-headers"]);
  return text
    .trim()
    .split("\n")
    .map((line) => {
      const words = line.trim().split(/\s+/);
      const [apiVersion = "", isNamespaced = "", kind = ""] = words.slice(-3);
      const [version = "", group = ""] = apiVersion.split("/").reverse();
      return { group, version, kind, plural: words[0] ?? "", namespaced: isNamespaced === "true" };
    });
}

async function valuesOf(release: (typeof upstreamReleases)[number]): Promise<Values> {
  return readChartValues(await upstreamChart(release));
}

function withoutReplacedImages(values: Values): Values {
  const images = Object.entries(isRecord(values["images"]) ? values["images"] : {});
  return { ...values, images: Object.fromEntries(images.filter(([name]) => !replaced.includes(name))) };
}

/** Values with one value at a path such as "operator.resourcePrefix". */
function at(path: string, value: unknown): Values {
  const [last = "", ...outer] = path.split(".").reverse();
  return outer.reduce<Values>((inner, key) => ({ [key]: inner }), { [last]: value });
}

function merge(first: Values, second: Values): Values {
  const merged = Object.entries(second).map(([key, value]) => {
    const before = first[key];
    return [key, isRecord(before) && isRecord(value) ? merge(before, value) : value] as const;
  });
  return { ...first, ...Object.fromEntries(merged) };
}

/** The paths of all values of upstream's chart, except fields of pods, which the API server checks. */
async function ownPaths(): Promise<readonly string[]> {
  const paths = pathsOf(withoutReplacedImages(await valuesOf("1.6.0")));
  return paths.filter((path) => path !== "operator.affinity");
}
