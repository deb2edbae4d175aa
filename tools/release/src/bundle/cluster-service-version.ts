// SPDX-License-Identifier: Apache-2.0
/**
 * The ClusterServiceVersion tells the Operator Lifecycle Manager how to install the operator: its Deployment, its rights,
 * its CRDs and its images. See https://olm.operatorframework.io/docs/concepts/crds/clusterserviceversion/.
 */
import { repositoryUrl } from "../version/product-version.ts";
import { imagesOf, type CustomResourceDefinition, type DeploymentSpec, type Manifest, type Rule } from "./manifest.ts";

/** Name of the package in catalogs. */
export const packageName = "switchyard";

export interface OperatorDescription {
  readonly version: string;
  readonly deployment: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly spec: DeploymentSpec;
  };
  /** Of the operator's service account. */
  readonly rights: { readonly cluster: readonly Rule[]; readonly namespace: readonly Rule[] };
  readonly definitions: readonly CustomResourceDefinition[];
  /** An object of each kind. */
  readonly examples: readonly Manifest[];
  /** SVG. */
  readonly icon: string;
  /** "2026-11-22T20:00:00Z". */
  readonly createdAt: string;
}

/** Kinds that only the operator creates. */
const nodeStates: readonly string[] = ["SriovNetworkNodeState", "AfxdpNetworkNodeState"];

const suggestedNamespace = "openshift-sriov-network-operator";

/** What users create first. The CRD has the defaults. */
const firstConfig = {
  apiVersion: "sriovnetwork.openshift.io/v1",
  kind: "SriovOperatorConfig",
  metadata: { name: "default", namespace: suggestedNamespace },
  spec: {},
};

/** The oldest Kubernetes that the operator runs on; it refuses older ones. */
const minKubeVersion = "1.30.0";

const description = `Switchyard configures the NICs of a cluster so that pods can request SR-IOV virtual functions. It
is a drop-in replacement for the SR-IOV network operator: same API group, kinds, fields, labels and
host files.

After the installation, create the SriovOperatorConfig \`default\` in the namespace of the operator.
It deploys the components on the nodes.

Delete the SriovOperatorConfig before you uninstall the operator, and wait until it is gone.
`;

export function describeOperator(facts: OperatorDescription): Manifest {
  const { version, deployment, rights, definitions, examples, icon, createdAt } = facts;
  const { serviceAccountName } = deployment.spec.template.spec;
  const images = imagesOf(deployment.spec);
  return {
    apiVersion: "operators.coreos.com/v1alpha1",
    kind: "ClusterServiceVersion",
    metadata: {
      name: `${packageName}.v${version}`,
      annotations: {
        "alm-examples": JSON.stringify(examples.map(inSuggestedNamespace), undefined, 2),
        capabilities: "Seamless Upgrades",
        categories: "Networking",
        containerImage: images.get(deployment.name) ?? "",
        createdAt,
        description: "Configures SR-IOV network devices of a cluster, and drains nodes only when pods would lose them",
        "features.operators.openshift.io/cnf": "false",
        "features.operators.openshift.io/cni": "true",
        "features.operators.openshift.io/csi": "false",
        "features.operators.openshift.io/disconnected": "true",
        "features.operators.openshift.io/fips-compliant": "false",
        "features.operators.openshift.io/proxy-aware": "false",
        "features.operators.openshift.io/tls-profiles": "true",
        "features.operators.openshift.io/token-auth-aws": "false",
        "features.operators.openshift.io/token-auth-azure": "false",
        "features.operators.openshift.io/token-auth-gcp": "false",
        "olm.skipRange": `<${version}`,
        "operatorframework.io/initialization-resource": JSON.stringify(firstConfig),
        "operatorframework.io/suggested-namespace": suggestedNamespace,
        "operatorframework.io/suggested-namespace-template": JSON.stringify(namespaceTemplate),
        "operators.operatorframework.io/internal-objects": JSON.stringify(
          definitions.filter(({ spec }) => nodeStates.includes(spec.names.kind)).map(({ metadata }) => metadata.name),
        ),
        repository: repositoryUrl,
      },
    },
    spec: {
      displayName: "Switchyard",
      version,
      description,
      keywords: ["SR-IOV", "AF_XDP", "network", "NIC", "VF", "switchdev", "RDMA"],
      maturity: "beta",
      minKubeVersion,
      provider: { name: "Switchyard", url: repositoryUrl },
      links: [{ name: "Source", url: repositoryUrl }],
      icon: [{ base64data: Buffer.from(icon).toString("base64"), mediatype: "image/svg+xml" }],
      // Policies and node states are in the namespace of the operator; networks may be in all namespaces.
      installModes: [
        { type: "OwnNamespace", supported: true },
        { type: "SingleNamespace", supported: false },
        { type: "MultiNamespace", supported: false },
        { type: "AllNamespaces", supported: false },
      ],
      customresourcedefinitions: { owned: definitions.flatMap(describeDefinition) },
      install: {
        strategy: "deployment",
        spec: {
          clusterPermissions: [{ serviceAccountName, rules: rights.cluster }],
          permissions: [{ serviceAccountName, rules: rights.namespace }],
          deployments: [{ name: deployment.name, label: deployment.labels, spec: deployment.spec }],
        },
      },
      relatedImages: [...images].map(([name, image]) => ({ name, image })),
    },
  };
}

/** The components on nodes need host access, which restricted Pod Security forbids. */
const namespaceTemplate = {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: {
    name: suggestedNamespace,
    labels: {
      "openshift.io/cluster-monitoring": "true",
      "pod-security.kubernetes.io/audit": "privileged",
      "pod-security.kubernetes.io/enforce": "privileged",
      "pod-security.kubernetes.io/warn": "privileged",
    },
  },
};

function inSuggestedNamespace(example: Manifest): Manifest {
  return { ...example, metadata: { ...example.metadata, namespace: suggestedNamespace } };
}

function describeDefinition({ metadata: { name }, spec: { names, versions } }: CustomResourceDefinition) {
  return versions.map((version) => ({
    name,
    kind: names.kind,
    version: version.name,
    displayName: names.kind.replaceAll(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, " "),
    description: version.schema.openAPIV3Schema.description ?? names.kind,
  }));
}
