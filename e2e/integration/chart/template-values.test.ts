// SPDX-License-Identifier: Apache-2.0
/** What values of the chart change in the rendered objects, and which combinations the chart refuses with a sentence. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { supportedNics } from "@switchyard/policy";
import { pinImages } from "@switchyard/release";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { fieldAt } from "../../src/api/plain-api.ts";
import type { Values } from "../../src/helm/helm.ts";
import {
  chartDirectory,
  chartTemplates,
  idOf,
  metadataOf,
  only,
  type ChartObject,
  type ChartTemplates,
} from "./template-chart.ts";

let chart: ChartTemplates;

beforeAll(async () => {
  chart = await chartTemplates();
});
afterAll(() => {
  chart[Symbol.dispose]();
});

describe("the images of a release", () => {
  it("have the digests that the registry stated, unless values name another place or tag", async () => {
    const asked: string[] = [];
    const copy = join(chart.directory, "released");
    cpSync(chartDirectory, copy, { recursive: true });
    await pinImages(copy, {
      version: "0.1.0",
      digestOf(image) {
        asked.push(image);
        return Promise.resolve(`sha256:${`${asked.length}`.padStart(64, "0")}`);
      },
    });
    using released = await chartTemplates(copy);
    const operatorOf = async (values: Values) => {
      const deployment = only(await released.objects(values), "Deployment");
      return fieldAt(deployment, "spec", "template", "spec", "containers", 0, "image");
    };
    const nth = asked.indexOf("ghcr.io/switchyard/switchyard-operator:0.1.0") + 1;
    const reference = `ghcr.io/switchyard/switchyard-operator:0.1.0@sha256:${`${nth}`.padStart(64, "0")}`;
    expect(asked).toHaveLength(8);
    expect(await operatorOf({})).toBe(reference);
    expect(await operatorOf({ images: { operator: { pullPolicy: "Always" } } })).toBe(reference);
    expect(await operatorOf({ global: { imageRegistry: "mirror.example.com" } })).toBe(
      "mirror.example.com/switchyard/switchyard-operator:0.1.0",
    );
    expect(await operatorOf({ images: { operator: { tag: "dev" } } })).toBe(
      "ghcr.io/switchyard/switchyard-operator:dev",
    );
  });
});

describe("images", () => {
  const digest = `sha256:${"a".repeat(64)}`;

  it.each([
    { does: "has the chart's version", images: {}, reference: "ghcr.io/switchyard/switchyard-operator:0.1.0" },
    {
      does: "takes a text as it is",
      images: { operator: "localhost:5000/op:dev" },
      reference: "localhost:5000/op:dev",
    },
    {
      does: "adds the version to a text without one",
      images: { operator: "localhost:5000/op" },
      reference: "localhost:5000/op:0.1.0",
    },
    {
      does: "takes a text with a digest as it is",
      images: { operator: `example.com/op@${digest}` },
      reference: `example.com/op@${digest}`,
    },
    {
      does: "completes an object",
      images: { operator: { tag: "dev" } },
      reference: "ghcr.io/switchyard/switchyard-operator:dev",
    },
    {
      does: "has no tag with a digest only",
      images: { operator: { registry: "example.com", digest } },
      reference: `example.com/switchyard/switchyard-operator@${digest}`,
    },
    {
      does: "has both",
      images: { operator: { tag: "1.2.3", digest } },
      reference: `ghcr.io/switchyard/switchyard-operator:1.2.3@${digest}`,
    },
    {
      does: "gets the global registry",
      images: {},
      global: { imageRegistry: "mirror.example.com:5000/a" },
      reference: "mirror.example.com:5000/a/switchyard/switchyard-operator:0.1.0",
    },
    {
      does: "prefers its own registry to the global one",
      images: { operator: { registry: "own.example.com" } },
      global: { imageRegistry: "mirror.example.com" },
      reference: "own.example.com/switchyard/switchyard-operator:0.1.0",
    },
  ])("$does: $reference", async ({ images, global = {}, reference }) => {
    const objects = await chart.objects({ images, global });
    const image = fieldAt(only(objects, "Deployment"), "spec", "template", "spec", "containers", 0, "image");
    expect(image).toBe(reference);
    const jobs = objects.filter(({ kind }) => kind === "Job");
    expect(jobs).toHaveLength(3);
    for (const job of jobs) expect(fieldAt(job, "spec", "template", "spec", "containers", 0, "image")).toBe(reference);
  });

  it("of other projects get the global registry, keep their tags, and can be switched off", async () => {
    const values = {
      global: { imageRegistry: "mirror.example.com" },
      images: { rdmaCni: "", sriovCni: { tag: "v9" } },
    };
    const env = fieldAt(
      only(await chart.objects(values), "Deployment"),
      "spec",
      "template",
      "spec",
      "containers",
      0,
      "env",
    );
    expect(env).toEqual(
      expect.arrayContaining([
        { name: "RDMA_CNI_IMAGE", value: "" },
        { name: "SRIOV_CNI_IMAGE", value: "mirror.example.com/k8snetworkplumbingwg/sriov-cni:v9" },
        {
          name: "SRIOV_INFINIBAND_CNI_IMAGE",
          value: expect.stringMatching(/^mirror\.example\.com\/k8snetworkplumbingwg\/ib-sriov-cni:v\d/),
        },
      ]),
    );
  });

  it.each([
    ["operator", "ghcr.io/k8snetworkplumbingwg/sriov-network-operator"],
    ["operator", "nvcr.io/nvidia/mellanox/sriov-network-operator:network-operator-v26.7.0"],
    ["operator", "registry.example.com:5000/openshift/ose-sriov-network-rhel9-operator@sha256:abc"],
    ["sriovConfigDaemon", "ghcr.io/k8snetworkplumbingwg/sriov-network-operator-config-daemon:v1.6.0"],
    ["sriovConfigDaemon", "quay.io/openshift/origin-sriov-network-config-daemon:4.20"],
    ["webhook", "mirror.example.com/sriov-network-operator-webhook:v1"],
    ["webhook", "quay.io/openshift/origin-sriov-network-webhook"],
    ["sriovDraDriver", "ghcr.io/k8snetworkplumbingwg/dra-driver-sriov:v0.3.0"],
  ])("of upstream are refused: %s %s", async (name, reference) => {
    const said = await chart.refusal({ images: { [name]: reference } });
    expect(said).toContain(`images.${name} is "${reference}`);
    expect(said).toContain("an image of the Go SR-IOV network operator. This chart cannot run its programs.");
    expect(said).toContain("--reset-then-reuse-values");
    expect(await chart.objects({ images: { [name]: reference }, allowUpstreamImageNames: true })).not.toEqual([]);
  });

  it("cause no warning, as texts or as objects", async () => {
    const { status, stderr } = await chart.result({
      images: { operator: { tag: "dev" }, sriovCni: "example.com/cni:1", webhook: { registry: "example.com" } },
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
});

describe("values that would only fail in the cluster", () => {
  const gates = { sriovOperatorConfig: { featureGates: { manageBridges: true } } };
  it.each([
    [
      "a prefix",
      { operator: { resourcePrefix: "openshift_io/" } },
      'operator.resourcePrefix is "openshift_io/", which is no DNS name.',
    ],
    ["a registry", { global: { imageRegistry: "https://reg.example.com" } }, "Remove the scheme before the name"],
    ["an image", { images: { sriovCni: "https://reg.example.com/cni:1" } }, 'images.sriovCni is "https://'],
    ["a feature gate", gates, "sriovOperatorConfig.featureGates.manageBridges is no feature gate."],
  ])("are refused with a sentence: %s", async (_, values, sentence) => {
    expect(await chart.refusal(values)).toContain(sentence);
  });

  it("are accepted if they are right", async () => {
    const featureGates = { manageSoftwareBridges: true, metricsExporter: false };
    const right = { operator: { resourcePrefix: "nics.example.com" }, sriovOperatorConfig: { featureGates } };
    expect(await chart.objects({ ...right, global: { imageRegistry: "reg.example.com:5000/mirror" } })).not.toEqual([]);
  });
});

describe("lists of two forms", () => {
  it("accept pull secrets as names and as objects, each once", async () => {
    const values = {
      imagePullSecrets: ["one", { name: "two" }],
      global: { imagePullSecrets: [{ name: "one" }, "three"] },
    };
    const objects = await chart.objects(values);
    for (const object of objects.filter(({ kind }) => kind === "Deployment" || kind === "Job")) {
      const secrets = fieldAt(object, "spec", "template", "spec", "imagePullSecrets");
      expect(secrets).toEqual([{ name: "one" }, { name: "two" }, { name: "three" }]);
    }
    const env = fieldAt(only(objects, "Deployment"), "spec", "template", "spec", "containers", 0, "env");
    expect(env).toContainEqual({ name: "IMAGE_PULL_SECRETS", value: "one,two,three" });
  });

  it("accept NICs as lines and as maps, beside the rows of the built-in list, which they can replace", async () => {
    const builtIn = Object.fromEntries(supportedNics.map(({ key, vendor, pf, vf }) => [key, `${vendor} ${pf} ${vf}`]));
    const rowsOf = async (supportedExtraNICs: readonly unknown[]) => {
      return only(await chart.objects({ supportedExtraNICs }), "ConfigMap", "supported-nic-ids")["data"];
    };
    expect(builtIn).toMatchObject({ Intel_i40e_25G_SFP28: "8086 158b 154c" });
    expect(await rowsOf([])).toEqual(builtIn);
    expect(
      await rowsOf(['One: "8086 1521 1520"', { Two: "15b3 1017 1018", Intel_ixgbe_82576: "8086 10c9 ffff" }]),
    ).toEqual({
      ...builtIn,
      One: "8086 1521 1520",
      Two: "15b3 1017 1018",
      Intel_ixgbe_82576: "8086 10c9 ffff",
    });
    expect(await chart.refusal({ supportedExtraNICs: ["- nonsense"] })).toContain("Write a row as");
  });

  it("accept extra objects as maps and as texts, both as templates", async () => {
    const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: '{{ .Release.Name }}-text' }\n";
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "{{ .Release.Name }}-map" } };
    const ids = (await chart.objects({ extraDeploy: [text, map] })).map(idOf);
    expect(ids).toEqual(expect.arrayContaining(["ConfigMap/sw-text", "ConfigMap/sw-map"]));
  });
});

describe("values that a previous chart does not have", () => {
  it("get their defaults, with their parents", async () => {
    const missing = {
      operator: { tls: null, metricsExporter: null, admissionControllers: null },
      metrics: null,
      hooks: null,
    };
    const everything = {
      ...missing,
      global: null,
      crds: null,
      images: null,
      serviceAccount: null,
      rbac: null,
      tests: null,
    };
    const [given, byDefault] = [await chart.objects(everything), await chart.objects()];
    expect(given).toEqual(byDefault);
  });

  it("stay empty if null means none", async () => {
    const objects = await chart.objects({ operator: { affinity: null } });
    expect(fieldAt(only(objects, "Deployment"), "spec", "template", "spec", "affinity")).toBeUndefined();
  });
});

describe("common labels and annotations", () => {
  it("are on each object of the chart", async () => {
    const values = {
      commonLabels: { team: "net" },
      commonAnnotations: { "example.com/owner": "net" },
      eveBridge: { enabled: true },
      ovnOffload: { enabled: true },
      sriovOperatorConfig: { deploy: true },
      networkPolicy: { enabled: true },
      operator: { podDisruptionBudget: { enabled: true } },
      metrics: { podMonitor: { enabled: true }, alerts: { enabled: true }, dashboard: { enabled: true } },
    };
    const objects = await chart.objects(values);
    expect(objects.length).toBeGreaterThan(25);
    for (const object of objects) {
      expect([idOf(object), metadataOf(object)["labels"]]).toEqual([
        idOf(object),
        expect.objectContaining({ team: "net" }),
      ]);
      expect(metadataOf(object)["annotations"]).toMatchObject({ "example.com/owner": "net" });
    }
  });
});

describe("the hooks", () => {
  it("run commands of the operator's image with a time limit, and prefer the control plane where the cluster is unknown", async () => {
    const jobs = (await chart.objects()).filter(({ kind }) => kind === "Job");
    const facts = jobs.map((job) => [
      fieldAt(job, "metadata", "annotations", "helm.sh/hook"),
      fieldAt(job, "spec", "template", "spec", "containers", 0, "args"),
    ]);
    expect(facts).toEqual(
      expect.arrayContaining([
        ["pre-delete", ["uninstall", "--timeout-seconds", "120"]],
        ["pre-install,pre-upgrade", ["crds", "apply"]],
        ["pre-upgrade", ["adopt", "--release", "sw"]],
      ]),
    );
    for (const job of jobs) {
      expect(job["spec"]).toMatchObject({
        activeDeadlineSeconds: 240,
        template: {
          spec: {
            restartPolicy: "Never",
            tolerations: [{ operator: "Exists" }],
            affinity: {
              nodeAffinity: {
                preferredDuringSchedulingIgnoredDuringExecution: ["control-plane", "master"].map((role) => ({
                  weight: 100,
                  preference: { matchExpressions: [{ key: `node-role.kubernetes.io/${role}`, operator: "Exists" }] },
                })),
              },
            },
          },
        },
      });
    }
  });

  it("give hosts back only with the value, which adds time, rights and pull secrets", async () => {
    const name = "sw-sriov-network-operator-pre-delete-hook";
    const facts = (objects: readonly ChartObject[]) => {
      const rules = ["Role", "ClusterRole"].map((kind) => only(objects, kind, name)["rules"]);
      const job = only(objects, "Job", name);
      const args = fieldAt(job, "spec", "template", "spec", "containers", 0, "args");
      return { rules: JSON.stringify(rules), args: Array.isArray(args) ? args.map(String) : [], spec: job["spec"] };
    };
    const byDefault = facts(await chart.objects());
    expect(byDefault.args).toEqual(["uninstall", "--timeout-seconds", "120"]);
    expect(byDefault.rules).not.toMatch(/"pods"|"nodes"|nodestates|configmaps|securitycontextconstraints/);
    expect(byDefault.spec).not.toHaveProperty("podFailurePolicy");

    const giveHostsBack = { enabled: true, keepVfs: true, timeoutSeconds: 900 };
    const values = { hooks: { giveHostsBack }, imagePullSecrets: ["one", { name: "two" }] };
    const given = facts(await chart.objects(values));
    expect(given.args.slice(3)).toEqual([
      ...["--give-hosts-back", "--cleanup-image", "ghcr.io/switchyard/switchyard-config-daemon:0.1.0"],
      ...["--hosts-timeout-seconds", "900", "--image-pull-secrets", "one,two", "--keep-vfs"],
    ]);
    for (const kind of ["sriovnetworknodestates", "afxdpnetworknodestates"]) expect(given.rules).toContain(`"${kind}"`);
    expect(given.spec).toMatchObject({
      activeDeadlineSeconds: 240 + 900,
      podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [2] } }] },
    });
    expect(given.rules).toContain('"pods"');
    expect(given.rules).not.toContain("securitycontextconstraints");
    const openshift = facts(await chart.objects({ ...values, operator: { clusterType: "openshift" } }));
    expect(openshift.rules).toContain("securitycontextconstraints");
  });

  it("delete the CRDs after uninstallation only with crds.keep false", async () => {
    const isPostDelete = (object: ChartObject) =>
      fieldAt(object, "metadata", "annotations", "helm.sh/hook") === "post-delete";
    expect((await chart.objects()).filter(isPostDelete)).toEqual([]);
    const hooks = (await chart.objects({ crds: { keep: false } })).filter(isPostDelete);
    const args = ["spec", "template", "spec", "containers", 0, "args"] as const;
    expect(fieldAt(only(hooks, "Job"), ...args)).toEqual(["crds", "delete"]);
    const names = fieldAt(only(hooks, "ClusterRole"), "rules", 0, "resourceNames");
    expect(names).toHaveLength(readdirSync(join(chartDirectory, "crds")).length);
  });

  it("can be switched off", async () => {
    const objects = await chart.objects({ hooks: { enabled: false } });
    expect(objects.filter((object) => /pre-(delete|upgrade)/.test(idOf(object)))).toEqual([]);
    const withoutCrds = await chart.objects({ crds: { enabled: false } });
    expect(withoutCrds.filter(({ kind }) => kind === "Job").map(idOf)).not.toContain(
      "Job/sw-sriov-network-operator-pre-upgrade-crds",
    );
  });
});

describe("certificates", () => {
  const certificates = (values: object) => ({
    operator: { admissionControllers: { enabled: true, certificates: values } },
  });
  const pem = (name: string) => ({ caCrt: `${name} ca`, tlsCrt: `${name} crt`, tlsKey: `${name} key` });

  it("as values become Secrets of type Opaque, with the CA encoded twice, which the operator reads at its start", async () => {
    const custom = { enabled: true, operator: pem("webhook"), injector: pem("injector") };
    const objects = await chart.objects(certificates({ custom }));
    const secret = only(objects, "Secret", "operator-webhook-cert");
    expect(secret).toMatchObject({ type: "Opaque" });
    const ca = String(fieldAt(secret, "data", "ca.crt"));
    const decode = (text: string) => Buffer.from(text, "base64").toString();
    expect(decode(decode(ca))).toBe("webhook ca");
    expect(decode(String(fieldAt(secret, "data", "tls.key")))).toBe("webhook key");
    const [pod, other] = [
      objects,
      await chart.objects(certificates({ custom: { ...custom, operator: pem("new") } })),
    ].map((rendered) => fieldAt(only(rendered, "Deployment"), "spec", "template"));
    const checksum = ["metadata", "annotations", "switchyard.io/ca-checksum"] as const;
    expect(fieldAt(pod, ...checksum)).not.toEqual(fieldAt(other, ...checksum));
    expect(fieldAt(pod, "spec", "containers", 0, "env")).toContainEqual({
      name: "ADMISSION_CONTROLLERS_CERTIFICATES_OPERATOR_CA_CRT",
      valueFrom: { secretKeyRef: { name: "operator-webhook-cert", key: "ca.crt", optional: true } },
    });
  });

  it("of cert-manager are named like their Secrets", async () => {
    const objects = await chart.objects(certificates({ certManager: { enabled: true, generateSelfSigned: true } }));
    const ids = objects.filter(({ apiVersion }) => apiVersion === "cert-manager.io/v1").map(idOf);
    expect(ids.toSorted()).toEqual([
      "Certificate/network-resources-injector-cert",
      "Certificate/operator-webhook-cert",
      "Issuer/network-resources-injector-selfsigned-issuer",
      "Issuer/operator-webhook-selfsigned-issuer",
    ]);
  });

  it("of the operator need nothing from the chart", async () => {
    const objects = await chart.objects(certificates({}));
    expect(objects.filter(({ kind }) => kind === "Secret" || kind === "Certificate")).toEqual([]);
    expect(JSON.stringify(only(objects, "Deployment"))).not.toContain("_CA_CRT");
  });
});

describe("metrics", () => {
  const ofReader = "sw-sriov-network-operator-metrics-reader";

  it("are secure by default: monitors have the token of an account that may only read metrics", async () => {
    const objects = await chart.objects({ metrics: { serviceMonitor: { enabled: true } } });
    const env = fieldAt(only(objects, "Deployment"), "spec", "template", "spec", "containers", 0, "env");
    expect(env).toContainEqual({ name: "METRICS_SECURE", value: "true" });
    const access = {
      port: "metrics",
      scheme: "https",
      tlsConfig: { insecureSkipVerify: true },
      authorization: { credentials: { name: ofReader, key: "token" } },
    };
    expect(fieldAt(only(objects, "ServiceMonitor"), "spec", "endpoints")).toEqual([access]);
    const components = only(objects, "PodMonitor");
    expect(fieldAt(components, "spec", "podMetricsEndpoints")).toEqual([access]);
    expect(fieldAt(components, "spec", "selector", "matchExpressions", 0, "values")).toEqual(
      expect.arrayContaining(["sriov-network-config-daemon", "operator-webhook", "sriov-device-plugin"]),
    );
    expect(only(objects, "Secret", ofReader)).toMatchObject({
      type: "kubernetes.io/service-account-token",
      metadata: { annotations: { "kubernetes.io/service-account.name": ofReader } },
    });
    expect(only(objects, "ClusterRole", ofReader)["rules"]).toEqual([
      { nonResourceURLs: ["/metrics"], verbs: ["get"] },
    ]);
  });

  it("are plain, and only those of the operator, with metrics.secure=false", async () => {
    const objects = await chart.objects({ metrics: { secure: false, serviceMonitor: { enabled: true } } });
    expect(fieldAt(only(objects, "ServiceMonitor"), "spec", "endpoints")).toEqual([{ port: "metrics" }]);
    expect(objects.filter(({ kind }) => kind === "PodMonitor" || kind === "Secret")).toEqual([]);
  });

  it("come with the alerts and the dashboard as they are in their files", async () => {
    const objects = await chart.objects({ metrics: { alerts: { enabled: true }, dashboard: { enabled: true } } });
    const file = (name: string) => readFileSync(join(chartDirectory, name), "utf8");
    expect(only(objects, "PrometheusRule")["spec"]).toEqual(parse(file("alerts/switchyard.yaml")));
    const dashboard = String(
      fieldAt(only(objects, "ConfigMap", "sw-sriov-network-operator-dashboard"), "data", "switchyard.json"),
    );
    expect(JSON.parse(dashboard)).toEqual(JSON.parse(file("dashboards/switchyard.json")));
  });
});

describe("contradictions", () => {
  const pair = { certManager: { enabled: true }, custom: { enabled: true } };
  it.each([
    [{ operator: { replicas: 2, leaderElect: false } }, "operator.leaderElect is false and operator.replicas is 2"],
    [{ operator: { admissionControllers: { enabled: true, certificates: pair } } }, "are both true"],
    [
      { operator: { admissionControllers: { enabled: true, certificates: { custom: { enabled: true } } } } },
      "certificates.custom.operator.caCrt is not set",
    ],
    [{ metrics: { serviceMonitor: { enabled: true }, podMonitor: { enabled: true } } }, "would be stored twice"],
    [{ metrics: { enabled: false, podMonitor: { enabled: true } } }, "the operator serves no metrics"],
    [{ metrics: { port: 8081 }, operator: { healthPort: 8081 } }, "metrics.secure is true, but"],
    [
      { metrics: { service: { enabled: false }, serviceMonitor: { enabled: true } } },
      "metrics.service.enabled is false",
    ],
    [{ images: { webhook: "" } }, "images.webhook is empty"],
    [{ afxdpOperatorConfig: { deploy: true, provider: "upstream" } }, "images.afxdpPlugins is not set"],
    [
      {
        images: { afxdpPlugins: "registry.example/afxdp:1" },
        afxdpOperatorConfig: { deploy: true, provider: "upstream", loader: "bpfman" },
      },
      "Set loader to builtin or provider to switchyard",
    ],
  ])("%j: %s", async (values, says) => {
    expect(await chart.refusal(values)).toContain(says);
  });
});
