// SPDX-License-Identifier: Apache-2.0
/** Functions that build DaemonSets and the parts of pods that several components share. */
import { defined } from "@switchyard/api";
import { nodeSetLabels } from "@switchyard/policy";
import type { ComponentInput } from "../component.ts";
import type { ComponentSettings } from "../component-settings.ts";
import type { DaemonSet, ManifestMetadata } from "./kube-objects.ts";
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

/** Tolerates all taints. */
export const everyTaint: readonly Toleration[] = [{ operator: "Exists" }];

/** Returns the labels of the node set, on which the config daemon and the other node components run. */
export function nodeSetSelector({ config }: ComponentInput): Labels {
  return nodeSetLabels(config);
}

/** Returns a variable whose value is a field of the pod. */
export function fromField(name: string, fieldPath: string): EnvVar {
  return { name, valueFrom: { fieldRef: { apiVersion: "v1", fieldPath } } };
}

/**
 * Returns a variable for each value that is not undefined. For an empty value the variable only has a name, because the
 * API server drops empty values.
 */
export function fromValues(values: Readonly<Record<string, string | undefined>>): readonly EnvVar[] {
  return Object.entries(values).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return value === "" ? [{ name }] : [{ name, value }];
  });
}

/** Variable that all of Switchyard's processes require (libs/service). */
export const ownNamespace = fromField("NAMESPACE", "metadata.namespace");

/** Where probes find a process. */
interface ProbePlace {
  /** Default: the pod's address. */
  readonly host?: string;
  /** Default: "/readyz", which all of Switchyard's processes serve. Programs of other projects may not. */
  readonly readyPath?: string;
}

/**
 * Returns the probes of a process that serves /healthz, and usually /readyz, on this port. While a
 * node boots, all its pods start at once: without a startup probe, the liveness probe kills a process that needs half a minute.
 * The liveness probe is patient: on a node without spare processor time, restarts of processes that are only slow cost more.
 */
export function probesAt(
  port: number,
  { host, readyPath = "/readyz" }: ProbePlace = {},
): Pick<Container, "startupProbe" | "livenessProbe" | "readinessProbe"> {
  const probe = (path: string, periodSeconds: number, failureThreshold: number, timeoutSeconds = 5): Probe => ({
    httpGet: { path, port, scheme: "HTTP", ...defined({ host }) },
    periodSeconds,
    timeoutSeconds,
    failureThreshold,
  });
  return {
    startupProbe: probe("/healthz", 2, 90),
    livenessProbe: probe("/healthz", 20, 6, 10),
    readinessProbe: probe(readyPath, 10, 3),
  };
}

/** The security context of a container without any privileges. */
export const unprivileged: SecurityContext = {
  readOnlyRootFilesystem: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  seccompProfile: { type: "RuntimeDefault" },
};

/**
 * Returns the security context of a pod that does not run as root. OpenShift assigns a user ID itself and rejects
 * others.
 */
export function notRoot({ clusterType }: ComponentSettings): NonNullable<PodSpec["securityContext"]> {
  return { runAsNonRoot: true, ...(clusterType === "kubernetes" && { runAsUser: 65_532 }) };
}

/** Returns resource requests. */
export function requests(cpu: string, memory: string): Container["resources"] {
  return { requests: { cpu, memory } };
}

/** Returns the image pull secrets of all pods. */
function pullSecrets({ imagePullSecrets }: ComponentSettings): Pick<PodSpec, "imagePullSecrets"> {
  return imagePullSecrets.length === 0 ? {} : { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) };
}

/** The pod of a DaemonSet. */
interface PodOptions {
  /** Value of the label "app". It is the selector of upstream's DaemonSets, which cannot be changed. */
  readonly app: string;
  readonly annotations?: Labels;
  /** Security context constraint that the pod requires on OpenShift. */
  readonly securityContextConstraints: "privileged" | "restricted-v2";
  readonly spec: PodSpec;
}

/** Returns a DaemonSet. */
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
