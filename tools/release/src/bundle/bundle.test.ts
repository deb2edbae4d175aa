// SPDX-License-Identifier: Apache-2.0
import { beforeAll, describe, expect, it } from "@jest/globals";
import { operatorIdentity } from "@switchyard/render";
import { findWorkspaceRoot } from "@switchyard/testing";
import { randomBytes } from "node:crypto";
import { parse, parseDocument } from "yaml";
import { readVersion } from "../version/product-version.ts";
import { buildBundle, type BundleFiles } from "./build-bundle.ts";
import { checkBundle } from "./check-bundle.ts";
import type { DeploymentSpec } from "./manifest.ts";

const root = findWorkspaceRoot();
const csvPath = "manifests/switchyard.clusterserviceversion.yaml";
const annotationsPath = "metadata/annotations.yaml";
const definitionPath = "manifests/ovsnetworks.sriovnetwork.openshift.io.customresourcedefinition.yaml";
const options = { epoch: 1_770_000_000, channel: "stable", pin: undefined };
let files: BundleFiles;

/** What the tests read of a ClusterServiceVersion. */
interface Csv {
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
  readonly spec: {
    readonly version: string;
    readonly relatedImages: readonly { readonly image: string }[];
    readonly install: {
      readonly spec: {
        readonly clusterPermissions: readonly Permission[];
        readonly permissions: readonly Permission[];
        readonly deployments: readonly { readonly spec: DeploymentSpec }[];
      };
    };
  };
}

interface Permission {
  readonly serviceAccountName: string;
  readonly rules: readonly unknown[];
}

const csvOf = (bundle: BundleFiles): Csv => parse(bundle.get(csvPath) ?? "") as Csv;

const operatorOf = (csv: Csv) => csv.spec.install.spec.deployments[0]?.spec.template.spec.containers[0];

/** RBAC adds up rules, so their order does not matter. */
const inOrder = (rules: readonly unknown[]) => rules.map((rule) => JSON.stringify(rule)).sort();

/** Returns the problems of the bundle after a field of one of its files has another value. */
function problemsWith(path: string, [field, value]: readonly [string, unknown]): string {
  const document = parseDocument(files.get(path) ?? "");
  const keys = field.split("|").map((key) => (/^\d+$/.test(key) ? Number(key) : key));
  if (value === undefined) document.deleteIn(keys);
  else document.setIn(keys, value);
  return checkBundle(new Map([...files, [path, document.toString()]])).join("\n");
}

beforeAll(async () => {
  files = await buildBundle(root, options);
}, 600_000);

describe("buildBundle", () => {
  it("makes the same bundle again", async () => {
    expect([...(await buildBundle(root, options))]).toEqual([...files]);
  }, 60_000);

  it("has the version of the product", async () => {
    const { metadata, spec } = csvOf(files);
    const version = await readVersion(root);
    expect([metadata.name, spec.version]).toEqual([`switchyard.v${version}`, version]);
  });

  it("gives the operator the rights that libs/render states for OpenShift", () => {
    const csv = csvOf(files);
    const variable = (name: string) => operatorOf(csv)?.env?.find((entry) => entry.name === name)?.value ?? "";
    const name = variable("OPERATOR_SERVICE_ACCOUNT");
    const admission = { certificates: { kind: "service-ca" }, port: 6443 } as const;
    const identity = operatorIdentity({
      namespace: "any",
      resourcePrefix: "openshift.io",
      clusterType: "openshift",
      operatorServiceAccount: name,
      images: {},
      imagePullSecrets: [],
      cniBinPath: variable("SRIOV_CNI_BIN_PATH"),
      webhook: { ...admission, secretName: "operator-webhook-cert" },
      injector: { ...admission, secretName: "network-resources-injector-cert" },
      tls: { cipherSuites: [], curvePreferences: [] },
      metricsExporter: { port: 9110, secretName: variable("METRICS_EXPORTER_SECRET_NAME") },
      useExternalDrainer: false,
      devMode: false,
    });
    const stated = (kind: string) =>
      identity.flatMap((object) =>
        object.kind === kind && "rules" in object ? inOrder(object.rules as unknown[]) : [],
      );
    const { clusterPermissions, permissions } = csv.spec.install.spec;
    expect([...clusterPermissions, ...permissions].map(({ serviceAccountName }) => serviceAccountName)).toEqual([
      name,
      name,
    ]);
    expect(inOrder(clusterPermissions[0]?.rules ?? [])).toEqual(stated("ClusterRole"));
    expect(inOrder(permissions[0]?.rules ?? [])).toEqual(stated("Role"));
  });

  it("has upstream's name of the operator's container", () => {
    const csv = csvOf(files);
    expect(operatorOf(csv)).toMatchObject({ name: "sriov-network-operator" });
    expect(csv.metadata.annotations["containerImage"]).toBe(operatorOf(csv)?.image);
  });

  it("has the ClusterRole that owns what the operator creates outside of its namespace", () => {
    const account = csvOf(files).spec.install.spec.permissions[0]?.serviceAccountName ?? "";
    expect([...files.keys()]).toContain(`manifests/${account}.clusterrole.yaml`);
  });

  it("pins all images, also in the variables of the operator", async () => {
    const digest = `sha256:${"a".repeat(64)}`;
    const csv = csvOf(await buildBundle(root, { ...options, pin: () => Promise.resolve(digest) }));
    for (const { image } of csv.spec.relatedImages) expect(image).toMatch(/^[^:@]+@sha256:a{64}$/);
    const { image, env = [] } = operatorOf(csv) ?? { image: "" };
    expect(image).toBe(`ghcr.io/switchyard/switchyard-operator@${digest}`);
    const named = env.filter(({ name, value = "" }) => name.endsWith("_IMAGE") && value !== "");
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter(({ value = "" }) => !value.endsWith(`@${digest}`))).toEqual([]);
  }, 60_000);
});

describe("checkBundle", () => {
  it("accepts the bundle", () => {
    expect(checkBundle(files)).toEqual([]);
  });

  it.each<[string, string, unknown, string]>([
    ["a wrong version", "spec|version", "1.2", 'spec.version "1.2" must be a semantic version'],
    ["another version in the name", "metadata|name", "switchyard.v9.9.9", "metadata.name must end with"],
    ["no provider", "spec|provider", undefined, "spec.provider.name must be set"],
    ["no description", "spec|description", "", "spec.description must be set"],
    ["a link without a URL", "spec|links", [{ name: "x", url: "x" }], "must have a name and a URL"],
    ["no icon", "spec|icon", [], "spec.icon must be one image"],
    ["an icon of another type", "spec|icon|0|mediatype", "text/html", "spec.icon must be one image"],
    ["an unknown level", "metadata|annotations|capabilities", "Full", "the annotation capabilities"],
    ["an unknown category", "metadata|annotations|categories", "Nets", "the annotation categories"],
    ["a missing install mode", "spec|installModes|3", undefined, "spec.installModes must have each of"],
    ["no supported mode", "spec|installModes|0|supported", false, "at least one mode"],
    ["a CRD that is not owned", "spec|customresourcedefinitions|owned|0", undefined, "does not own"],
    ["an owned kind without a CRD", "spec|customresourcedefinitions|owned|0|version", "v2", "is no CRD of the bundle"],
    ["examples that are no JSON", "metadata|annotations|alm-examples", "[", "alm-examples must be JSON"],
    ["no examples", "metadata|annotations|alm-examples", "[]", "alm-examples has no"],
    ["another strategy", "spec|install|strategy", "job", 'must be "deployment"'],
    ["rights of nobody", "spec|install|spec|permissions|0|serviceAccountName", "x", "but no Deployment uses it"],
    [
      "no rights",
      "spec|install|spec|deployments|0|spec|template|spec|serviceAccountName",
      "x",
      "service account x gets no rights",
    ],
    ["all rights", "spec|install|spec|permissions|0|rules|0|verbs", ["*"], 'gets rights with "*"'],
    [
      "no requests",
      "spec|install|spec|deployments|0|spec|template|spec|containers|0|resources",
      undefined,
      "must request resources",
    ],
    ["an image that mirrors lack", "spec|relatedImages|0", undefined, "so a mirror would lack it"],
    ["an image for nothing", "spec|relatedImages|0|image", "x:1", "which nothing uses"],
    [
      "a digest for some images",
      "spec|relatedImages|0|image",
      `x@sha256:${"a".repeat(64)}`,
      "for all images or for none",
    ],
    ["a namespace", "metadata|namespace", "x", "metadata.namespace must not be set"],
    ["labels of Helm", "metadata|labels", { "helm.sh/chart": "x" }, "must not be in a bundle"],
    ["too much text", "spec|description", randomBytes(1 << 21).toString("base64"), "bytes compressed"],
  ])("reports %s", (_does, field, value, problem) => {
    expect(problemsWith(csvPath, [field, value])).toContain(problem);
  });

  it.each<[string, string, string, string]>([
    ["a missing channel", "operators.operatorframework.io.bundle.channels.v1", "x", "the default channel"],
    ["another format", "operators.operatorframework.io.bundle.mediatype.v1", "x", 'must be "registry+v1"'],
    ["labels that differ", "more", "x", "the label more must be"],
  ])("reports %s", (_does, annotation, value, problem) => {
    expect(problemsWith(annotationsPath, [`annotations|${annotation}`, value])).toContain(problem);
  });

  it.each<[string, string, string, string]>([
    ["an old CRD", "apiVersion", "apiextensions.k8s.io/v1beta1", "must be apiextensions.k8s.io/v1"],
    ["a wrong name of a CRD", "metadata|name", "x", "the name must be"],
    ["a text that Kubernetes reads as a boolean", "metadata|labels|x", "on", "Kubernetes reads YAML 1.1"],
    ["a kind that OLM does not create", "kind", "DaemonSet", "OLM does not create objects of kind DaemonSet"],
  ])("reports %s", (_does, field, value, problem) => {
    expect(problemsWith(definitionPath, [field, value])).toContain(problem);
  });

  it("reports a bundle without a ClusterServiceVersion", () => {
    const without = new Map([...files].filter(([path]) => path !== csvPath));
    expect(checkBundle(without).join("\n")).toContain("must have one ClusterServiceVersion, not 0");
  });
});
