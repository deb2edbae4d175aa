// SPDX-License-Identifier: Apache-2.0
/** checkOperator checks a ClusterServiceVersion, alone and against the CRDs of its bundle. */
import { imagesOf, type CustomResourceDefinition, type DeploymentSpec, type Manifest, type Rule } from "./manifest.ts";

interface Owned {
  readonly name: string;
  readonly version: string;
  readonly kind: string;
  readonly displayName?: string;
  readonly description?: string;
}

interface Spec {
  readonly version?: string;
  readonly displayName?: string;
  readonly description?: string;
  readonly minKubeVersion?: string;
  readonly provider?: { readonly name?: string };
  readonly links?: readonly { readonly name?: string; readonly url?: string }[];
  readonly icon?: readonly { readonly base64data?: string; readonly mediatype?: string }[];
  readonly installModes?: readonly { readonly type: string; readonly supported: boolean }[];
  readonly customresourcedefinitions?: { readonly owned?: readonly Owned[] };
  readonly relatedImages?: readonly { readonly name: string; readonly image: string }[];
  readonly install?: {
    readonly strategy?: string;
    readonly spec?: {
      readonly clusterPermissions?: readonly Permission[];
      readonly permissions?: readonly Permission[];
      readonly deployments?: readonly { readonly name: string; readonly spec: DeploymentSpec }[];
    };
  };
}

interface Permission {
  readonly serviceAccountName: string;
  readonly rules: readonly Rule[];
}

const capabilities = ["Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot"];
const categories = [
  ...["AI/Machine Learning", "Application Runtime", "Big Data", "Cloud Provider", "Database", "Developer Tools"],
  ...["Drivers and plugins", "Integration & Delivery", "Logging & Tracing", "Modernization & Migration", "Monitoring"],
  ...["Networking", "Observability", "OpenShift Optional", "Security", "Storage", "Streaming & Messaging"],
];
const installModes = ["AllNamespaces", "MultiNamespace", "OwnNamespace", "SingleNamespace"];
const iconTypes = ["image/gif", "image/jpeg", "image/png", "image/svg+xml"];
const semver = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/;

/** Returns a sentence for each problem. */
export function checkOperator(csv: Manifest, definitions: readonly CustomResourceDefinition[]): readonly string[] {
  const spec = csv["spec"] as Spec;
  const problems = [
    ...checkTexts(csv, spec),
    ...checkInstallModes(spec),
    ...checkDefinitions(spec, definitions),
    ...checkExamples(csv, spec),
    ...checkInstallation(spec),
    ...checkImages(spec),
  ];
  return problems.map((problem) => `ClusterServiceVersion: ${problem}`);
}

function* checkTexts({ metadata: { name, annotations = {} } }: Manifest, spec: Spec): Iterable<string> {
  const { version = "", displayName, description, minKubeVersion = "", provider, links = [], icon = [] } = spec;
  if (!semver.test(version)) yield `spec.version "${version}" must be a semantic version`;
  if (name.slice(name.indexOf(".") + 1) !== `v${version}`) yield `metadata.name must end with ".v${version}"`;
  if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name)) yield `metadata.name "${name}" must be a DNS name`;
  if (!displayName) yield "spec.displayName must be set";
  if (!description) yield "spec.description must be set";
  if (!semver.test(minKubeVersion)) yield `spec.minKubeVersion "${minKubeVersion}" must be a semantic version`;
  if (!provider?.name) yield "spec.provider.name must be set";
  for (const { name: title, url = "" } of links) {
    if (!title || !URL.canParse(url)) yield `spec.links: "${title ?? ""}" must have a name and a URL, not "${url}"`;
  }
  const [image, ...more] = icon;
  if (more.length > 0 || !image?.base64data || !iconTypes.includes(image.mediatype ?? "")) {
    yield `spec.icon must be one image of a type in ${iconTypes.join(", ")}`;
  }
  const { capabilities: level = "", categories: list = "" } = annotations;
  if (!capabilities.includes(level))
    yield `the annotation capabilities "${level}" must be one of ${capabilities.join(", ")}`;
  for (const category of list.split(",").map((text) => text.trim())) {
    if (!categories.includes(category))
      yield `the annotation categories has "${category}", which is not one of ${categories.join(", ")}`;
  }
}

function* checkInstallModes({ installModes: modes = [] }: Spec): Iterable<string> {
  const types = modes.map(({ type }) => type).sort();
  if (types.join() !== installModes.join()) yield `spec.installModes must have each of ${installModes.join(", ")} once`;
  if (!modes.some(({ supported }) => supported)) yield "spec.installModes must support at least one mode";
}

function* checkDefinitions(
  { customresourcedefinitions }: Spec,
  definitions: readonly CustomResourceDefinition[],
): Iterable<string> {
  const owned = customresourcedefinitions?.owned ?? [];
  const keys = definitions.flatMap(({ metadata, spec }) =>
    spec.versions.map((version) => `${metadata.name}/${version.name} ${spec.names.kind}`),
  );
  const ownedKeys = owned.map(({ name, version, kind }) => `${name}/${version} ${kind}`);
  for (const key of ownedKeys) if (!keys.includes(key)) yield `owns ${key}, which is no CRD of the bundle`;
  for (const key of keys) if (!ownedKeys.includes(key)) yield `does not own ${key}, a CRD of the bundle`;
  for (const list of [keys, ownedKeys]) if (new Set(list).size < list.length) yield "CRDs are repeated";
  for (const { kind, displayName, description } of owned) {
    if (!displayName || !description) yield `owned kind ${kind} must have displayName and description`;
  }
}

function* checkExamples(
  { metadata: { annotations = {} } }: Manifest,
  { customresourcedefinitions }: Spec,
): Iterable<string> {
  let examples: readonly Manifest[];
  try {
    examples = JSON.parse(annotations["alm-examples"] ?? "") as readonly Manifest[];
  } catch (error) {
    yield `the annotation alm-examples must be JSON: ${String(error)}`;
    return;
  }
  const owned = (customresourcedefinitions?.owned ?? []).map(
    ({ name, version, kind }) => `${name.slice(name.indexOf(".") + 1)}/${version} ${kind}`,
  );
  const shown = examples.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`);
  for (const key of shown) if (!owned.includes(key)) yield `alm-examples has ${key}, which is not owned`;
  for (const key of owned) if (!shown.includes(key)) yield `alm-examples has no ${key}`;
}

function* checkInstallation({ install }: Spec): Iterable<string> {
  if (install?.strategy !== "deployment") yield 'spec.install.strategy must be "deployment"';
  const { deployments = [], clusterPermissions = [], permissions = [] } = install?.spec ?? {};
  if (deployments.length === 0) yield "spec.install.spec.deployments must have a Deployment";
  const accounts = new Set(deployments.map(({ spec }) => spec.template.spec.serviceAccountName));
  const granted = [...clusterPermissions, ...permissions];
  for (const account of accounts) {
    if (!granted.some(({ serviceAccountName }) => serviceAccountName === account))
      yield `service account ${account} gets no rights`;
  }
  for (const { serviceAccountName, rules } of granted) {
    if (!accounts.has(serviceAccountName))
      yield `service account ${serviceAccountName} gets rights, but no Deployment uses it`;
    if (rules.length === 0) yield `service account ${serviceAccountName} gets an empty list of rules`;
    for (const { verbs, resources = [], apiGroups = [] } of rules) {
      if ([...verbs, ...resources, ...apiGroups].includes("*"))
        yield `service account ${serviceAccountName} gets rights with "*"`;
    }
  }
  for (const { name, spec } of deployments) {
    for (const container of spec.template.spec.containers) {
      if (container.resources?.requests === undefined)
        yield `container ${container.name} of ${name} must request resources`;
    }
  }
}

function* checkImages({ install, relatedImages = [] }: Spec): Iterable<string> {
  const names = relatedImages.map(({ name }) => name);
  if (new Set(names).size < names.length) yield "spec.relatedImages has a name twice";
  const related = new Set(relatedImages.map(({ image }) => image));
  const used = new Set((install?.spec?.deployments ?? []).flatMap(({ spec }) => [...imagesOf(spec).values()]));
  for (const image of used)
    if (!related.has(image)) yield `spec.relatedImages has no ${image}, so a mirror would lack it`;
  for (const image of related) if (!used.has(image)) yield `spec.relatedImages has ${image}, which nothing uses`;
  const pinned = [...related].filter((image) => image.includes("@sha256:"));
  if (pinned.length > 0 && pinned.length < related.size)
    yield "spec.relatedImages must have a digest for all images or for none";
}
