// SPDX-License-Identifier: Apache-2.0
/**
 * renderChart renders the Helm chart for OpenShift. The bundle is made from its objects, so that chart and bundle have one
 * source.
 */
import { outputOf } from "@switchyard/testing";
import { goPrograms } from "@switchyard/go-programs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import type { Manifest } from "./manifest.ts";

/** Stands for the namespace, which the user chooses at the installation: no object of a bundle may contain it. */
export const placeholderNamespace = "namespace-of-the-bundle";

/** The differences between OpenShift and the defaults of the chart. */
const values = {
  fullnameOverride: "sriov-network-operator",
  operator: { clusterType: "openshift", cniBinPath: "/var/lib/cni/bin" },
  crds: { networkAttachmentDefinition: false }, // OpenShift has it
};

const helmLabels = ["helm.sh/chart", "app.kubernetes.io/managed-by", "app.kubernetes.io/instance"];

/** Returns the objects without those of hooks and tests, and without Helm's labels. */
export async function renderChart(root: string): Promise<readonly Manifest[]> {
  const helm = join(await goPrograms("helm4"), "helm");
  const options = ["--namespace", placeholderNamespace, "--kube-version", "1.34.0", "--values", "-"];
  const text = await outputOf(helm, ["template", "switchyard", join(root, "charts/switchyard"), ...options], {
    input: JSON.stringify(values),
  });
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((object) => object !== null)
    .filter(({ metadata: { annotations = {} } }) => annotations["helm.sh/hook"] === undefined)
    .map(withoutHelmLabels);
}

/** In the object and in its pod template. */
function withoutHelmLabels<T>(object: T): T {
  return JSON.parse(JSON.stringify(object), (key, value: unknown) => {
    if (key !== "labels" || typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).filter(([label]) => !helmLabels.includes(label)));
  }) as T;
}
