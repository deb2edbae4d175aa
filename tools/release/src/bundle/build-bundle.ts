// SPDX-License-Identifier: Apache-2.0
/** buildBundle makes the files of the bundle from the rendered chart, the CRDs and the examples of the API. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { ReleaseError } from "../release-error.ts";
import { readVersion } from "../version/product-version.ts";
import { checkBundle } from "./check-bundle.ts";
import { describeOperator, packageName } from "./cluster-service-version.ts";
import { imagesOf, type CustomResourceDefinition, type DeploymentSpec, type Manifest, type Rule } from "./manifest.ts";
import { renderChart } from "./render-chart.ts";

export interface BundleOptions {
  /** Time of the bundle, in seconds since 1970. */
  readonly epoch: number;
  /** Channel of the package in catalogs. */
  readonly channel: string;
  /** Returns the digest of an image. Without it, images keep their tags, which a mirror cannot use. */
  readonly pin: ((image: string) => Promise<string>) | undefined;
}

/** Path -> text. */
export type BundleFiles = ReadonlyMap<string, string>;

/** The operator's own group; the chart also has CRDs of others. */
const ownGroups: readonly string[] = ["sriovnetwork.openshift.io", "afxdpnetwork.hns.dev"];

/** Rejects with a ReleaseError that lists what breaks the rules of bundles. */
export async function buildBundle(root: string, { epoch, channel, pin }: BundleOptions): Promise<BundleFiles> {
  const objects = await renderChart(root);
  const version = await readVersion(root);
  const deployment = only(objects, "Deployment");
  const spec = await pinImages(deployment["spec"] as DeploymentSpec, pin);
  const account = spec.template.spec.serviceAccountName;
  const definitions = await readDefinitions(root);

  const csv = describeOperator({
    version,
    deployment: { name: deployment.metadata.name, labels: deployment.metadata.labels ?? {}, spec },
    rights: { cluster: rulesOf(objects, "ClusterRole", account), namespace: rulesOf(objects, "Role", account) },
    definitions,
    examples: await readExamples(root),
    icon: await readFile(join(root, "docs/public/logo.svg"), "utf8"),
    createdAt: new Date(epoch * 1000).toISOString().replace(".000", ""),
  });
  const isLeftOut = (object: Manifest) => isOfTheOperator(object.kind) || isNotOfOlm(object);
  const others = objects.filter((object) => !isLeftOut(object)).map(withoutNamespace);
  const manifests = [csv, ...definitions, ...others, owner(account)];
  const annotations = annotationsOf(channel);
  const files = new Map([
    ...manifests.map((manifest) => [`manifests/${fileName(manifest)}`, toYaml(manifest)] as const),
    ["metadata/annotations.yaml", toYaml({ annotations })] as const,
    ["bundle.Containerfile", containerfile(annotations)] as const,
  ]);
  const problems = checkBundle(files);
  if (problems.length > 0) throw new ReleaseError("failed", `the bundle breaks rules:\n${problems.join("\n")}`);
  return files;
}

/** OLM makes the objects of these kinds from the ClusterServiceVersion, in the namespace that the user chooses. */
function isOfTheOperator(kind: string): boolean {
  return ["ServiceAccount", "Deployment", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"].includes(kind);
}

/**
 * OLM creates neither admission policies nor NetworkPolicies. docs/security.md says what the operator's token can do without its
 * policy.
 */
function isNotOfOlm({ kind }: Manifest): boolean {
  return ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "NetworkPolicy"].includes(kind);
}

function rulesOf(objects: readonly Manifest[], kind: "Role" | "ClusterRole", account: string): readonly Rule[] {
  const role = objects.find((object) => object.kind === kind && object.metadata.name === account);
  if (role === undefined) throw new ReleaseError("failed", `the chart has no ${kind} ${account}`);
  return role["rules"] as readonly Rule[];
}

function only(objects: readonly Manifest[], kind: string): Manifest {
  const [first, ...more] = objects.filter((object) => object.kind === kind);
  if (first !== undefined && more.length === 0) return first;
  throw new ReleaseError(
    "failed",
    `the chart must have one ${kind}, not ${objects.length === 0 ? 0 : more.length + 1}`,
  );
}

/**
 * The operator looks up the ClusterRole with the name of its service account, and makes it the owner of what it creates
 * outside of its namespace (apps/operator/src/facts/cluster-settings.ts). OLM gives its own roles other names.
 */
function owner(account: string): Manifest {
  return { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: account }, rules: [] };
}

function withoutNamespace(object: Manifest): Manifest {
  const { namespace: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

async function pinImages(spec: DeploymentSpec, pin: BundleOptions["pin"]): Promise<DeploymentSpec> {
  if (pin === undefined) return spec;
  const pinned = new Map<string, string>();
  for (const image of new Set(imagesOf(spec).values())) {
    pinned.set(image, image.includes("@") ? image : `${image.replace(/:[^:/]+$/, "")}@${await pin(image)}`);
  }
  return JSON.parse(JSON.stringify(spec), (_key, value: unknown) =>
    typeof value === "string" ? (pinned.get(value) ?? value) : value,
  ) as DeploymentSpec;
}

async function readDefinitions(root: string): Promise<readonly CustomResourceDefinition[]> {
  const definitions = await readManifests(join(root, "charts/switchyard/crds"));
  return (definitions as readonly CustomResourceDefinition[]).filter(({ spec }) => ownGroups.includes(spec.group));
}

/** Node states are made by the operator, but each kind must have an example. */
function readExamples(root: string): Promise<readonly Manifest[]> {
  return readManifests(join(root, "libs/api/examples"));
}

async function readManifests(directory: string): Promise<readonly Manifest[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith(".yaml")).sort();
  return Promise.all(files.map(async (file) => parse(await readFile(join(directory, file), "utf8")) as Manifest));
}

function annotationsOf(channel: string): Readonly<Record<string, string>> {
  const bundle = "operators.operatorframework.io.bundle";
  return {
    [`${bundle}.mediatype.v1`]: "registry+v1",
    [`${bundle}.manifests.v1`]: "manifests/",
    [`${bundle}.metadata.v1`]: "metadata/",
    [`${bundle}.package.v1`]: packageName,
    [`${bundle}.channels.v1`]: channel,
    [`${bundle}.channel.default.v1`]: channel,
    "com.redhat.openshift.versions": "v4.17", // the first with Kubernetes 1.30
  };
}

function containerfile(annotations: Readonly<Record<string, string>>): string {
  const labels = Object.entries(annotations).map(([name, value]) => `LABEL ${name}="${value}"`);
  const copies = ["COPY manifests /manifests/", "COPY metadata /metadata/"];
  return ["# SPDX-License-Identifier: Apache-2.0", "FROM scratch", ...labels, ...copies, ""].join("\n");
}

function fileName({ kind, metadata: { name } }: Manifest): string {
  if (kind === "ClusterServiceVersion") return `${packageName}.clusterserviceversion.yaml`;
  return `${name}.${kind.toLowerCase()}.yaml`;
}

/** OLM reads YAML 1.1, in which the text "on" needs quotes. */
function toYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, compat: "yaml-1.1" });
}
