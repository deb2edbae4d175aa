// SPDX-License-Identifier: Apache-2.0
/**
 * What the two servers have in common that the API server calls: our webhook and the network resources injector. They run
 * beside it, behind a Service, and take their certificates from a Secret (sriov-operator.md H).
 */
import { annotated, clusterScoped, namespaced, type ComponentInput } from "../component.ts";
import { controlPlaneLabels } from "../control-plane.ts";
import type { AdmissionServerSettings } from "../component-settings.ts";
import type { NetworkPolicy, Service, Webhook, WebhookConfiguration } from "../objects/kube-objects.ts";
import type { Labels, PodSpec, Toleration } from "../objects/pod-template.ts";
import type { ComponentName } from "../rendered-components.ts";

/** Port of the container, which the Service leads to. */
export const serverPort = 6443;

/** Port of /healthz and /readyz, and of /metrics where the server has them. */
export const serverHealthPort = 8444;

/** Where the Secret with the certificate is mounted. */
export const tlsDirectory = "/etc/tls";

export interface AdmissionServer {
  readonly component: ComponentName;
  readonly service: string;
  /** Value of the pods' label "app". */
  readonly app: string;
  readonly settings: AdmissionServerSettings;
}

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

/** Nobody needs more of it than reviews and probes, and it needs nobody but the API server. */
export function serverNetworkPolicy(server: AdmissionServer, input: ComponentInput): NetworkPolicy {
  const { component, app, settings } = server;
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: namespaced(component, `${app}-allow-traffic-api-server`, input),
    spec: {
      podSelector: { matchLabels: { app } },
      policyTypes: ["Ingress", "Egress"],
      ingress: [{ ports: [serverPort, serverHealthPort].map((port) => ({ protocol: "TCP", port })) }],
      egress: [{ ports: [{ protocol: "TCP", port: settings.port }] }],
    },
  };
}

/** What the API server asks, and what it does without an answer. */
export type Question = Pick<Webhook, "name" | "failurePolicy" | "matchConditions" | "rules">;

/** A registration with one webhook. */
export function registration(
  server: AdmissionServer,
  of: { readonly kind: WebhookConfiguration["kind"]; readonly name: string; readonly path: string },
  question: Question,
  { namespace }: ComponentInput["settings"],
): WebhookConfiguration {
  const { certificates } = server.settings;
  const service = { name: server.service, namespace, path: of.path, port: 443 };
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: of.kind,
    metadata: annotated(clusterScoped(server.component, of.name), trustAnnotations(server.settings, namespace)),
    webhooks: [
      {
        ...question,
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        timeoutSeconds: 10,
        // Without a caBundle of ours, whoever announces one keeps it.
        clientConfig: { service, ...(certificates.kind === "given" && { caBundle: certificates.caBundle }) },
      },
    ],
  };
}

/** What makes others announce the authority. */
function trustAnnotations({ certificates, secretName }: AdmissionServerSettings, namespace: string): Labels {
  switch (certificates.kind) {
    case "service-ca":
      return { "service.beta.openshift.io/inject-cabundle": "true" };
    case "cert-manager":
      // The Certificate is called as its Secret.
      return { "cert-manager.io/inject-ca-from": `${namespace}/${secretName}` };
    case "given":
    case "self-made":
      return {};
  }
}

/** Runs it on the control plane's nodes, where the API server is; on any where those are somebody else's. */
export function serverPlacement({
  settings,
}: ComponentInput): Pick<PodSpec, "nodeSelector" | "affinity" | "tolerations" | "priorityClassName"> {
  const nodeSelectorTerms = controlPlaneLabels.map((key) => ({
    matchExpressions: [{ key, operator: "Exists" as const }],
  }));
  const tolerations = [...controlPlaneLabels, "node.kubernetes.io/not-ready"].map((key): Toleration => ({
    key,
    operator: "Exists",
    effect: "NoSchedule",
  }));
  // Nothing rather than no tolerations: the server drops an empty list, and it would be written anew at each start.
  const onControlPlane = {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
    tolerations,
  };
  return {
    priorityClassName: "system-cluster-critical",
    nodeSelector: { "kubernetes.io/os": "linux" },
    ...(settings.isControlPlaneExternal === true ? {} : onControlPlane),
  };
}
