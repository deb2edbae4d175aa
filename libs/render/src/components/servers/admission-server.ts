// SPDX-License-Identifier: Apache-2.0
/**
 * Objects that the two admission servers have in common, the operator's webhook and the network resources injector.
 * Both run on control plane nodes behind a Service and read their certificates from a Secret (sriov-operator.md H).
 */
import type { Node } from "@switchyard/api";
import type { AdmissionServerSettings } from "../component-settings.ts";
import { annotated, clusterScoped, namespaced, type ComponentInput } from "../component.ts";
import type { NetworkPolicy, Service, Webhook, WebhookConfiguration } from "../objects/kube-objects.ts";
import type { Labels, PodSpec, Toleration } from "../objects/pod-template.ts";
import type { ComponentName, ComponentProblem } from "../rendered-components.ts";
import { choosesNodes } from "./admission-placement.ts";

/** The old and the new role label. A control plane node has one of them. */
const controlPlaneLabels = ["node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"];

/** Port of the container, the target of the Service. */
export const serverPort = 6443;

/** Port of /healthz and /readyz, and of /metrics if the server has metrics that everybody may read. */
export const serverHealthPort = 8444;

/** Port of secure metrics. */
export const serverMetricsPort = 8445;

/** Mount path of the Secret with the certificate. */
export const tlsDirectory = "/etc/tls";

/** An admission server. */
export interface AdmissionServer {
  readonly component: ComponentName;
  readonly service: string;
  /** Value of the pods' label "app". */
  readonly app: string;
  readonly settings: AdmissionServerSettings;
}

/** Returns the Service of the server. */
export function serverService({ component, service, app, settings }: AdmissionServer, input: ComponentInput): Service {
  const serviceCa = { "service.beta.openshift.io/serving-cert-secret-name": settings.secretName };
  const metadata = namespaced(component, service, input);
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: annotated(metadata, settings.certificates.kind === "service-ca" ? serviceCa : {}),
    spec: {
      selector: { app },
      ports: [{ name: "https", protocol: "TCP", port: 443, targetPort: serverPort }],
    },
  };
}

/** Returns a NetworkPolicy that only allows connections to the server's ports, and from it to the API server. */
export function serverNetworkPolicy(server: AdmissionServer, input: ComponentInput): NetworkPolicy {
  const { component, app, settings } = server;
  const hasMetrics = component === "operator-webhook" && input.settings.hasSecureMetrics === true;
  const secured = hasMetrics ? [serverMetricsPort] : [];
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: namespaced(component, `${app}-allow-traffic-api-server`, input),
    spec: {
      podSelector: { matchLabels: { app } },
      policyTypes: ["Ingress", "Egress"],
      ingress: [{ ports: [serverPort, serverHealthPort, ...secured].map((port) => ({ protocol: "TCP", port })) }],
      egress: [{ ports: [{ protocol: "TCP", port: settings.port }] }],
    },
  };
}

/** Which requests the API server sends to the webhook, and what it does if the webhook does not respond. */
export type WebhookCalls = Pick<Webhook, "name" | "failurePolicy" | "matchConditions" | "rules">;

/** Returns a webhook configuration with one webhook. */
export function webhookConfiguration(
  server: AdmissionServer,
  of: { readonly kind: WebhookConfiguration["kind"]; readonly name: string; readonly path: string },
  calls: WebhookCalls,
  { namespace }: ComponentInput["settings"],
): WebhookConfiguration {
  const { certificates, secretPath } = server.settings;
  const path = secretPath ? `/${secretPath}${of.path}` : of.path;
  const service = { name: server.service, namespace, path, port: 443 };
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: of.kind,
    metadata: annotated(clusterScoped(server.component, of.name), trustAnnotations(server.settings, namespace)),
    webhooks: [
      {
        ...calls,
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        timeoutSeconds: 10,
        // Omitted unless given, so that the caBundle of another writer is kept.
        clientConfig: { service, ...(certificates.kind === "given" && { caBundle: certificates.caBundle }) },
      },
    ],
  };
}

/** Returns the annotations that make cert-manager or OpenShift set caBundle. */
function trustAnnotations({ certificates, secretName }: AdmissionServerSettings, namespace: string): Labels {
  switch (certificates.kind) {
    case "service-ca":
      return { "service.beta.openshift.io/inject-cabundle": "true" };
    case "cert-manager":
      // The Certificate has the same name as its Secret.
      return { "cert-manager.io/inject-ca-from": `${namespace}/${secretName}` };
    case "given":
    case "self-made":
      return {};
  }
}

/**
 * Taints of control plane nodes: those of kubeadm, `etcd` of RKE2 and Rancher, and CriticalAddonsOnly, which k3s and RKE2
 * document for servers. Some distributions use the effect NoExecute.
 */
const controlPlaneTolerations: readonly Toleration[] = [
  ...[...controlPlaneLabels, "node-role.kubernetes.io/etcd", "CriticalAddonsOnly"].map((key): Toleration => ({
    key,
    operator: "Exists",
  })),
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoSchedule" },
];

/**
 * Returns the placement of the server's pods: on the nodes that an administrator has chosen, else on control plane nodes, or on any
 * node if the cluster has none of these.
 */
export function serverPlacement({
  settings,
}: ComponentInput): Pick<PodSpec, "nodeSelector" | "affinity" | "tolerations" | "priorityClassName"> {
  const nodeSelectorTerms = controlPlaneLabels.map((key) => ({
    matchExpressions: [{ key, operator: "Exists" as const }],
  }));
  const { admissionPlacement: chosen = {}, isControlPlaneExternal } = settings;
  const onControlPlane = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
  const isAnywhere = choosesNodes(chosen) || isControlPlaneExternal === true;
  const affinity = isAnywhere ? chosen.affinity : onControlPlane;
  const tolerations = [
    // The chosen nodes may be those of the control plane.
    ...(isControlPlaneExternal === true && !choosesNodes(chosen) ? [] : controlPlaneTolerations),
    ...(chosen.tolerations ?? []),
  ];
  return {
    priorityClassName: "system-cluster-critical",
    nodeSelector: { "kubernetes.io/os": "linux", ...chosen.nodeSelector },
    ...(affinity !== undefined && { affinity }),
    // Omitted instead of an empty list: the API server drops an empty list, so the object would always seem to differ.
    ...(tolerations.length > 0 && { tolerations }),
  };
}

/** What users should know about the placement of a server: control plane nodes may exist that carry no label. */
export function placementNotice(
  field: string,
  { settings }: ComponentInput,
): readonly Omit<ComponentProblem, "component">[] {
  if (settings.isControlPlaneExternal !== true || choosesNodes(settings.admissionPlacement ?? {})) return [];
  const message = "no control plane node is visible, so the pods may run on any Linux node whose taints they tolerate";
  return [{ severity: "warning", field, message }];
}

/**
 * isControlPlaneExternal reports whether the cluster has no control plane nodes, as with a hosted or managed control plane. If it
 * has some, the servers that the API server calls run there. Reports whether no node belongs to the control plane. False if there
 * are no nodes at all, since then it is unknown.
 */
export function isControlPlaneExternal(nodes: readonly Node[]): boolean {
  return nodes.length > 0 && !nodes.some(isOfControlPlane);
}

/** Reports whether the node belongs to the control plane. */
export function isOfControlPlane({ metadata: { labels = {} } }: Node): boolean {
  return controlPlaneLabels.some((label) => Object.hasOwn(labels, label));
}
