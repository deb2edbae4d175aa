// SPDX-License-Identifier: Apache-2.0
/**
 * checkBundle checks a bundle against the documented rules: those of the bundle format, of the Operator Lifecycle Manager
 * and of operatorhub.io (https://olm.operatorframework.io/docs/best-practices/common/).
 */
import { gzipSync } from "node:zlib";
import { parse } from "yaml";
import { placeholderNamespace } from "./render-chart.ts";
import { checkOperator } from "./check-operator.ts";
import type { CustomResourceDefinition, Manifest } from "./manifest.ts";

/** Kinds that OLM creates from a bundle, besides CRDs and the ClusterServiceVersion. */
const supportedKinds = new Set([
  ...["ClusterRole", "ClusterRoleBinding", "ConfigMap", "ConsoleCLIDownload", "ConsoleLink", "ConsoleQuickStart"],
  ...["ConsoleYAMLSample", "PodDisruptionBudget", "PriorityClass", "PrometheusRule", "Role", "RoleBinding", "Secret"],
  ...["Service", "ServiceAccount", "ServiceMonitor", "VerticalPodAutoscaler"],
]);

const prefix = "operators.operatorframework.io.bundle";

/** OLM unpacks a bundle into a ConfigMap, compressed. */
const maxCompressedBytes = 1 << 20;

/** `files` are path -> text. Returns a sentence for each problem. */
export function checkBundle(files: ReadonlyMap<string, string>): readonly string[] {
  const manifests = [...files].filter(([path]) => path.startsWith("manifests/"));
  const objects = manifests.map(([path, text]) => ({ path, text, object: parse(text) as Manifest }));
  const problems = [...checkMetadata(files)];

  const csvs = objects.filter(({ object }) => object.kind === "ClusterServiceVersion");
  if (csvs.length !== 1) problems.push(`the bundle must have one ClusterServiceVersion, not ${csvs.length}`);
  const definitions = objects.map(({ object }) => object).filter(isDefinition);
  for (const { object } of csvs) problems.push(...checkOperator(object, definitions));

  for (const { path, text, object } of objects) {
    const { apiVersion, kind, metadata } = object;
    if (isDefinition(object)) {
      if (apiVersion !== "apiextensions.k8s.io/v1")
        problems.push(`${path}: ${apiVersion} must be apiextensions.k8s.io/v1`);
      const expected = `${object.spec.names.plural}.${object.spec.group}`;
      if (metadata.name !== expected) problems.push(`${path}: the name must be ${expected}, not ${metadata.name}`);
    } else if (kind !== "ClusterServiceVersion" && !supportedKinds.has(kind)) {
      problems.push(`${path}: OLM does not create objects of kind ${kind}`);
    }
    if (JSON.stringify(parse(text, { version: "1.1" })) !== JSON.stringify(object)) {
      problems.push(`${path}: texts such as "on" must have quotes: Kubernetes reads YAML 1.1`);
    }
    if (metadata.namespace !== undefined) problems.push(`${path}: metadata.namespace must not be set; OLM sets it`);
    if (text.includes(placeholderNamespace))
      problems.push(`${path}: the namespace of the operator must not be part of an object`);
    if (text.includes("helm.sh/")) problems.push(`${path}: labels and annotations of Helm must not be in a bundle`);
  }
  const compressed = gzipSync(manifests.map(([, text]) => text).join("")).length;
  if (compressed > maxCompressedBytes) {
    problems.push(`the manifests have ${compressed} bytes compressed; at most ${maxCompressedBytes} are allowed`);
  }
  return problems;
}

function checkMetadata(files: ReadonlyMap<string, string>): readonly string[] {
  const path = "metadata/annotations.yaml";
  const content = parse(files.get(path) ?? "") as { readonly annotations?: Readonly<Record<string, string>> } | null;
  const annotations = content?.annotations ?? {};
  const fixed = { mediatype: "registry+v1", manifests: "manifests/", metadata: "metadata/" };
  const problems = Object.entries(fixed)
    .filter(([name, value]) => annotations[`${prefix}.${name}.v1`] !== value)
    .map(([name, value]) => `${path}: ${prefix}.${name}.v1 must be "${value}"`);
  if (!annotations[`${prefix}.package.v1`])
    problems.push(`${path}: ${prefix}.package.v1 must be the name of the package`);
  const channels = (annotations[`${prefix}.channels.v1`] ?? "").split(",");
  const standard = annotations[`${prefix}.channel.default.v1`] ?? "";
  if (standard === "" || !channels.includes(standard)) {
    problems.push(`${path}: the default channel "${standard}" must be one of the channels "${channels.join(",")}"`);
  }

  const containerfile = files.get("bundle.Containerfile") ?? "";
  const labels = [...containerfile.matchAll(/^LABEL ([^=]+)="([^"]*)"$/gm)].map(
    ([, name = "", value = ""]) => [name, value] as const,
  );
  for (const [name, value] of Object.entries(annotations)) {
    if (new Map(labels).get(name) !== value)
      problems.push(`bundle.Containerfile: the label ${name} must be "${value}"`);
  }
  for (const folder of ["manifests", "metadata"]) {
    if (!containerfile.includes(`COPY ${folder} /${folder}/\n`))
      problems.push(`bundle.Containerfile: must copy ${folder}`);
  }
  return problems;
}

function isDefinition(object: Manifest): object is CustomResourceDefinition {
  return object.kind === "CustomResourceDefinition";
}
