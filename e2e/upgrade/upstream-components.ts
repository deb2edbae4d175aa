// SPDX-License-Identifier: Apache-2.0
/**
 * leaveComponents creates the objects that upstream's chart and operator 1.6 leave in a cluster, and objects of others
 * that nobody may change (sriov-operator.md A.6, H). Owners, finalizers and field managers are the original ones.
 */
import { operatorConfigName, sriovOperatorConfigs, upstreamFinalizers, type ResourceType } from "@switchyard/api";
import { namespace } from "@switchyard/test-cluster";
import { isRecord, type KubeObject } from "@switchyard/kube";
import { componentKinds } from "@switchyard/render";
import { formerCniDaemonSet, upstreamDaemonSets } from "./upstream-daemon-sets.ts";
import { upstream, type NewObject, type UpstreamCluster, type Writing } from "../src/operator/upstream-cluster.ts";

/** Field manager of upstream's chart. */
export const helm = "helm";

/** An object to create, and its kind. */
export interface Piece {
  readonly type: ResourceType;
  readonly object: NewObject;
}

/** An object in the cluster, and its kind. */
export interface Stored {
  readonly type: ResourceType;
  readonly stored: KubeObject;
}

export interface LeftComponents {
  /** The SriovOperatorConfig "default". */
  readonly config: KubeObject;
  /** Objects of upstream's operator and chart, which Switchyard replaces or removes. */
  readonly pieces: readonly Stored[];
  /** Objects that must not change: ConfigMaps that upstream's programs read, and the objects of others. */
  readonly untouched: readonly Stored[];
}

const { ServiceAccount, Service, ConfigMap, DaemonSet, Role, RoleBinding, ClusterRole, ClusterRoleBinding } =
  componentKinds;
const { NetworkPolicy, ServiceMonitor, PrometheusRule } = componentKinds;
const { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } = componentKinds;

/** The kind of components on nodes. */
export const daemonSets = DaemonSet;

const secrets: ResourceType = { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true };

const rbac = "rbac.authorization.k8s.io";
const readOf = (resource: string, group = "") => ({
  apiGroups: [group],
  resources: [resource],
  verbs: ["get", "list", "watch"],
});
const privileged = {
  apiGroups: ["security.openshift.io"],
  resources: ["securitycontextconstraints"],
  resourceNames: ["privileged"],
  verbs: ["use"],
};

function named(type: ResourceType, name: string, fields: object = {}, metadata: object = {}): Piece {
  return { type, object: { metadata: { name, ...(type.namespaced && { namespace }), ...metadata }, ...fields } };
}

/** Returns a role and its binding to a service account. */
function access(scope: "" | "Cluster", role: string, binding: string, account: string, rules: readonly object[]) {
  const roleRef = { apiGroup: rbac, kind: `${scope}Role`, name: role };
  const subjects = [{ kind: "ServiceAccount", name: account, namespace }];
  return [
    named(scope === "" ? Role : ClusterRole, role, { rules }),
    named(scope === "" ? RoleBinding : ClusterRoleBinding, binding, { roleRef, subjects }),
  ];
}

/** Returns a Service as upstream writes it, with a single unnamed port. */
function service(name: string, app: string): Piece {
  return named(Service, name, { spec: { selector: { app }, ports: [{ port: 443, targetPort: 6443 }] } });
}

function networkPolicy(app: string): Piece {
  const spec = {
    podSelector: { matchLabels: { app } },
    policyTypes: ["Ingress", "Egress"],
    ingress: [{ ports: [{ protocol: "TCP", port: 6443 }] }],
    egress: [{ ports: [{ protocol: "TCP", port: 6443 }] }],
  };
  return named(NetworkPolicy, `${app}-allow-traffic-api-server`, { spec });
}

/**
 * Returns the objects in the order in which upstream's operator creates them. The chart creates the rights of the
 * config daemon.
 */
export function operatorPieces(): readonly Piece[] {
  const injector = "network-resources-injector";
  const monitored = { name: "sriov-network-metrics-exporter-service" };
  const ports = [{ name: "sriov-network-metrics", port: 9110, targetPort: 9110 }];
  return [
    ...["operator-webhook-sa", `${injector}-sa`, "sriov-device-plugin", "metrics-exporter-sa"].map((name) => {
      return named(ServiceAccount, name);
    }),
    ...access("Cluster", "operator-webhook", "operator-webhook-role-binding", "operator-webhook-sa", [
      readOf("nodes"),
      readOf("*", "sriovnetwork.openshift.io"),
    ]),
    ...access("Cluster", injector, `${injector}-role-binding`, `${injector}-sa`, [
      readOf("network-attachment-definitions", "k8s.cni.cncf.io"),
    ]),
    ...access("", injector, `${injector}-role-binding`, `${injector}-sa`, [readOf("configmaps")]),
    ...access("", "sriov-plugin", "sriov-device-plugin", "sriov-device-plugin", [privileged]),
    ...access("", "sriov-device-plugin-pod-access", "sriov-device-plugin-pod-access", "sriov-device-plugin", [
      { ...readOf("pods"), verbs: ["get", "update"] },
    ]),
    ...access("", "metrics-exporter-role", "metrics-exporter-rb", "metrics-exporter-sa", [privileged]),
    ...access(
      ...(["Cluster", "sriov-metrics-kube-rbac-role", "sriov-metrics-kube-rbac-rolebinding"] as const),
      ...([
        "metrics-exporter-sa",
        [{ ...readOf("tokenreviews", "authentication.k8s.io"), verbs: ["create"] }],
      ] as const),
    ),
    ...access("", "prometheus-k8s", "prometheus-k8s", "prometheus-k8s", [readOf("services"), readOf("pods")]),
    service("operator-webhook-service", "operator-webhook"),
    service(`${injector}-service`, injector),
    named(
      ...([Service, monitored.name, { spec: { selector: { app: "sriov-network-metrics-exporter" }, ports } }] as const),
      { labels: monitored, annotations: { "prometheus.io/target": "true" } },
    ),
    named(ServiceMonitor, "sriov-network-metrics-exporter", {
      spec: { endpoints: [{ port: "sriov-network-metrics", scheme: "https" }], selector: { matchLabels: monitored } },
    }),
    named(PrometheusRule, "sriov-vf-rules", { spec: { groups: [{ name: "upstream", rules: [] }] } }),
    networkPolicy("operator-webhook"),
    networkPolicy(injector),
    named(ConfigMap, "nri-control-switches", {
      data: { "config.json": '{"features":{"enableHugePageDownApi":true}}' },
    }),
    ...upstreamDaemonSets().map((object) => ({ type: DaemonSet, object })),
    // Objects of the previous release.
    named(ServiceAccount, "sriov-cni"),
    named(RoleBinding, "sriov-cni", {
      roleRef: { apiGroup: rbac, kind: "Role", name: "sriov-plugin" },
      subjects: [{ kind: "ServiceAccount", name: "sriov-cni", namespace }],
    }),
    { type: DaemonSet, object: formerCniDaemonSet() },
  ];
}

/** Returns the objects that the chart creates for the config daemon. */
export function chartPieces(): readonly Piece[] {
  const metadata = {
    labels: { "app.kubernetes.io/managed-by": "Helm" },
    annotations: { "meta.helm.sh/release-name": "sriov", "meta.helm.sh/release-namespace": namespace },
  };
  const daemon = "sriov-network-config-daemon";
  const everything = [{ apiGroups: ["sriovnetwork.openshift.io"], resources: ["*"], verbs: ["*"] }];
  const nodes = [{ ...readOf("nodes"), verbs: ["get", "list", "watch", "patch", "update"] }];
  const all = [
    named(ServiceAccount, daemon),
    ...access("", daemon, daemon, daemon, everything),
    ...access("Cluster", daemon, daemon, daemon, nodes),
  ];
  return all.map(({ type, object }) => ({
    type,
    object: { ...object, metadata: { ...object.metadata, ...metadata } },
  }));
}

/** ConfigMaps that only upstream's programs read. Switchyard writes the first one if it is configured to. */
const nodeConfigs = named(ConfigMap, "device-plugin-config", { data: { "worker-1": '{"resourceList":null}' } });
const nicIds = named(ConfigMap, "supported-nic-ids", { data: { Intel_i40e_XXV710: "8086 158a 154c" } });

/** Returns objects of others in the same namespace, some under names that former upstream releases used. */
function foreignPieces(): readonly Piece[] {
  const app = { app: "node-tuner" };
  const template = {
    metadata: { labels: app },
    spec: { containers: [{ name: "main", image: "example.com/tuner:1" }] },
  };
  const keyPair = { "tls.crt": "LS0t", "tls.key": "LS0t" };
  return [
    named(secrets, "operator-webhook-cert", { type: "kubernetes.io/tls", data: keyPair }),
    named(secrets, "network-resources-injector-cert", { type: "kubernetes.io/tls", data: keyPair }),
    named(ConfigMap, "notes", { data: { todo: "buy switches" } }),
    named(ConfigMap, "sriov-network-metrics-exporter-config", { data: { "drivers.yaml": "drivers: []" } }),
    named(DaemonSet, "node-tuner", { spec: { selector: { matchLabels: app }, template } }),
    named(ClusterRole, "sriov-viewer", { rules: [readOf("sriovnetworks", "sriovnetwork.openshift.io")] }),
  ];
}

/** Adds the owner reference that upstream's operator sets on namespaced objects. */
export function ownedBy(
  { apiVersion, kind, metadata: { name, uid = "" } }: KubeObject,
  { type, object }: Piece,
): Piece {
  if (!type.namespaced) return { type, object };
  const ownerReferences = [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }];
  return { type, object: { ...object, metadata: { ...object.metadata, ownerReferences } } };
}

/**
 * Creates or updates the object as upstream's operator does: its labels and annotations override existing ones, others
 * are kept, and so is an assigned address (sriov-operator.md H).
 */
export async function writeAsUpstream(testCluster: UpstreamCluster, { type, object }: Piece): Promise<void> {
  const operator = testCluster.as(upstream.operator);
  const now: (KubeObject & { readonly spec?: unknown }) | undefined = await testCluster.find(type, object.metadata);
  if (now === undefined) {
    await operator.create(type, object);
    return;
  }
  const { labels, annotations, resourceVersion = "" } = now.metadata;
  const { clusterIP, clusterIPs } = isRecord(now.spec) ? now.spec : {};
  const address = type === Service ? { clusterIP, clusterIPs } : {};
  await operator.update(type, {
    apiVersion: now.apiVersion,
    kind: now.kind,
    ...object,
    ...(isRecord(object["spec"]) && { spec: { ...object["spec"], ...address } }),
    metadata: {
      ...object.metadata,
      resourceVersion,
      labels: { ...labels, ...object.metadata.labels },
      annotations: { ...annotations, ...object.metadata.annotations },
    },
  });
}

/**
 * Creates everything except webhook configurations. The webhook does not answer in this cluster, so it would make every
 * later write fail.
 */
export async function leaveComponents(testCluster: UpstreamCluster): Promise<LeftComponents> {
  const [user, chart, operator] = [
    testCluster.as(upstream.user),
    testCluster.as(helm),
    testCluster.as(upstream.operator),
  ];
  const create = async (by: Writing, { type, object }: Piece) => ({ type, stored: await by.create(type, object) });
  await user.create(sriovOperatorConfigs, {
    metadata: { name: operatorConfigName },
    spec: { enableInjector: true, enableOperatorWebhook: true, logLevel: 2, featureGates: { metricsExporter: true } },
  });
  const config = await operator.patch(sriovOperatorConfigs, operatorConfigName, {
    metadata: { finalizers: [upstreamFinalizers.operatorConfig] },
  });
  await operator.applyStatus(sriovOperatorConfigs, operatorConfigName, {
    conditions: [
      {
        type: "Ready",
        status: "True",
        reason: "OperatorConfigReady",
        message: "all components are in sync",
        observedGeneration: 1,
        lastTransitionTime: "2026-10-01T00:00:00Z",
      },
    ],
  });
  const untouched = [await create(operator, ownedBy(config, nodeConfigs)), await create(chart, nicIds)];
  for (const piece of foreignPieces()) untouched.push(await create(user, piece));
  const pieces: Stored[] = [];
  for (const piece of chartPieces()) pieces.push(await create(chart, piece));
  for (const piece of operatorPieces()) pieces.push(await create(operator, ownedBy(config, piece)));
  return { config, pieces, untouched };
}

/**
 * Returns upstream's webhook configurations, whose Service has no endpoints. If upstream's operator exits cleanly, it
 * sets failurePolicy to Ignore; here it was killed.
 */
export function registrationPieces(caBundle: string): readonly Piece[] {
  const labels = { "created-by": "sriov-network-operator" };
  const webhook = (name: string, service: string, path: string, question: object) => ({
    webhooks: [
      {
        name,
        sideEffects: "None",
        admissionReviewVersions: ["v1", "v1beta1"],
        clientConfig: { service: { name: service, namespace, path }, caBundle },
        ...question,
      },
    ],
  });
  const rule = (
    operations: readonly string[],
    resources: readonly string[],
    apiGroup = "sriovnetwork.openshift.io",
  ) => {
    return { operations, apiGroups: [apiGroup], apiVersions: ["v1"], resources };
  };
  const own = ["sriovnetworknodepolicies", "sriovoperatorconfigs", "sriovnetworkpoolconfigs"];
  const networks = ["sriovnetworks", "sriovibnetworks", "ovsnetworks"];
  const asksWebhook = (path: string, rules: readonly object[]) =>
    webhook("operator-webhook.sriovnetwork.openshift.io", "operator-webhook-service", path, {
      failurePolicy: "Fail",
      rules,
    });
  const name = "sriov-operator-webhook-config";
  const mutating = asksWebhook("/mutating-custom-resource", [rule(["CREATE", "UPDATE"], own.slice(0, 1))]);
  const validating = asksWebhook("/validating-custom-resource", [
    ...own.map((resource) => rule(["CREATE", "UPDATE", "DELETE"], [resource])),
    ...networks.map((resource) => rule(["CREATE", "UPDATE"], [resource])),
  ]);
  const injector = "network-resources-injector";
  const injecting = webhook(`${injector}-config.k8s.io`, `${injector}-service`, "/mutate", {
    failurePolicy: "Ignore",
    rules: [rule(["CREATE"], ["pods"], "")],
  });
  return [
    named(MutatingWebhookConfiguration, name, mutating, { labels }),
    named(ValidatingWebhookConfiguration, name, validating, { labels }),
    named(MutatingWebhookConfiguration, `${injector}-config`, injecting, { labels }),
  ];
}
