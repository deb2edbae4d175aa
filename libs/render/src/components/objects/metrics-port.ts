// SPDX-License-Identifier: Apache-2.0
/**
 * metricsOf gives a container a port for its metrics, which the chart's PodMonitor finds by its name. Pods on the host network
 * serve metrics only over TLS, and only to those who may read them: everybody on the network reaches their port.
 */
import type { ComponentSettings } from "../component-settings.ts";
import type { RbacRule } from "./kube-objects.ts";
import type { Container } from "./pod-template.ts";

interface ContainerMetrics {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly ports: NonNullable<Container["ports"]>;
}

/** Returns nothing if the operator's metrics are not secure. */
export function secureMetrics({ hasSecureMetrics = false }: MetricsSettings, containerPort: number): ContainerMetrics {
  if (!hasSecureMetrics) return { env: {}, ports: [] };
  return {
    env: { METRICS_ADDRESS: `:${containerPort}`, METRICS_SECURE: "true" },
    ports: [metricsPort(containerPort)],
  };
}

export function metricsPort(containerPort: number): ContainerMetrics["ports"][number] {
  return { name: "metrics", containerPort, protocol: "TCP" };
}

/** With these rights a process asks the API server who sends a token, and whether that user may read metrics. */
export function scrapeReviewRules({ hasSecureMetrics = false }: MetricsSettings): readonly RbacRule[] {
  if (!hasSecureMetrics) return [];
  return [
    { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
    { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
  ];
}

type MetricsSettings = Pick<ComponentSettings, "hasSecureMetrics">;
