// SPDX-License-Identifier: Apache-2.0
/** Parts of pods that several components share. */
import { nodeSetLabels } from "@switchyard/policy";
import type { ComponentInput } from "../component.ts";
import type { ComponentSettings } from "../component-settings.ts";
import type { DaemonSet } from "./kube-objects.ts";
import type { ManifestMetadata } from "./manifest.ts";
import type {
  Container,
  EnvVar,
  Labels,
  PodSpec,
  PodTemplate,
  Probe,
  SecurityContext,
  Toleration,
} from "./pod-template.ts";

/** Nodes are configured whatever they are tainted with. */
export const everyTaint: readonly Toleration[] = [{ operator: "Exists" }];

/** The node set, which the config daemon and all that goes with it runs on. */
export function nodeSetSelector({ config }: ComponentInput): Labels {
  return nodeSetLabels(config);
}

/** A variable with a field of the pod itself. */
export function fromField(name: string, fieldPath: string): EnvVar {
  return { name, valueFrom: { fieldRef: { apiVersion: "v1", fieldPath } } };
}

/** Variables with the values that are not undefined. The server drops an empty one, which a name alone stands for, too. */
export function fromValues(values: Readonly<Record<string, string | undefined>>): readonly EnvVar[] {
  return Object.entries(values).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return value === "" ? [{ name }] : [{ name, value }];
  });
}

/** What all services of ours need to know (libs/service). */
export const ownNamespace = fromField("NAMESPACE", "metadata.namespace");

/** Of a process that serves /healthz and /readyz at this port; with a host, of the node. */
export function probesAt(port: number, host?: string): Pick<Container, "livenessProbe" | "readinessProbe"> {
  const probe = (path: string): Probe => ({
    httpGet: { path, port, scheme: "HTTP", ...(host === undefined ? {} : { host }) },
    periodSeconds: 10,
    timeoutSeconds: 5,
    failureThreshold: 3,
  });
  return { livenessProbe: probe("/healthz"), readinessProbe: probe("/readyz") };
}

/** Who has no rights has none to lose. */
export const unprivileged: SecurityContext = {
  readOnlyRootFilesystem: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  seccompProfile: { type: "RuntimeDefault" },
};

/** OpenShift chooses a user for each namespace and refuses others. */
export function notRoot({ clusterType }: ComponentSettings): NonNullable<PodSpec["securityContext"]> {
  return { runAsNonRoot: true, ...(clusterType === "kubernetes" && { runAsUser: 65_532 }) };
}

export function requests(cpu: string, memory: string): Container["resources"] {
  return { requests: { cpu, memory } };
}

/** What each pod of a component says in the same way. */
export function pullSecrets({ imagePullSecrets }: ComponentSettings): Pick<PodSpec, "imagePullSecrets"> {
  return imagePullSecrets.length === 0 ? {} : { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) };
}

export interface PodOptions {
  /** Value of the label "app", which upstream's DaemonSets select pods by and which can never change. */
  readonly app: string;
  readonly annotations?: Labels;
  /** OpenShift: what the pod may do at most. */
  readonly securityContextConstraints: "privileged" | "restricted-v2";
  readonly spec: PodSpec;
}

export function daemonSet(metadata: ManifestMetadata, pod: PodOptions, { settings }: ComponentInput): DaemonSet {
  const labels = { app: pod.app };
  const template: PodTemplate = {
    metadata: {
      labels: { ...labels, component: "network", type: "infra", "openshift.io/component": "network" },
      annotations: {
        "kubectl.kubernetes.io/default-container": pod.spec.containers[0]?.name ?? "",
        ...(settings.clusterType === "openshift" && {
          "openshift.io/required-scc": pod.securityContextConstraints,
        }),
        ...pod.annotations,
      },
    },
    spec: { ...pod.spec, ...pullSecrets(settings) },
  };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata,
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "33%" } },
      template,
    },
  };
}
