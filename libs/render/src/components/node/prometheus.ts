// SPDX-License-Identifier: Apache-2.0
/**
 * prometheusObjects returns the objects through which a Prometheus operator finds the metrics exporter
 * (sriov-operator.md H).
 */
import { namespaced, type ComponentInput } from "../component.ts";
import type { Manifest, RbacRule, Role, RoleBinding } from "../objects/kube-objects.ts";

/** Name of the exporter's Service and value of its label "name". */
export const metricsService = "sriov-network-metrics-exporter-service";

/** monitoring.coreos.com/v1 ServiceMonitor, restricted to the fields that are used. */
interface ServiceMonitor extends Manifest {
  readonly apiVersion: "monitoring.coreos.com/v1";
  readonly kind: "ServiceMonitor";
  readonly spec: Readonly<Record<string, unknown>>;
}

/** monitoring.coreos.com/v1 PrometheusRule, restricted to the fields that are used. */
interface PrometheusRule extends Manifest {
  readonly apiVersion: "monitoring.coreos.com/v1";
  readonly kind: "PrometheusRule";
  readonly spec: {
    readonly groups: readonly {
      readonly name: string;
      readonly interval: string;
      readonly rules: readonly { readonly record: string; readonly expr: string }[];
    }[];
  };
}

const component = "metrics-exporter";
const monitoring = "monitoring.coreos.com/v1";
const rbac = { apiVersion: "rbac.authorization.k8s.io/v1" } as const;

/** Returns a ServiceMonitor, RBAC objects and recording rules; empty if the cluster has no Prometheus operator. */
export function prometheusObjects(input: ComponentInput): readonly Manifest[] {
  const { prometheusOperator } = input.settings.metricsExporter;
  if (prometheusOperator === undefined) return [];
  const { serviceAccount, namespace, deployRules } = prometheusOperator;
  const name = "prometheus-k8s";
  const role: Role = { ...rbac, kind: "Role", metadata: namespaced(component, name, input), rules: discovery };
  const binding: RoleBinding = {
    ...rbac,
    kind: "RoleBinding",
    metadata: namespaced(component, name, input),
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
    subjects: [{ kind: "ServiceAccount", name: serviceAccount, namespace }],
  };
  return [role, binding, serviceMonitor(input), ...(deployRules ? [recordingRules(input)] : [])];
}

/** Rights with which Prometheus discovers the exporter's endpoints. */
const discovery: readonly RbacRule[] = [
  { apiGroups: [""], resources: ["services", "endpoints", "pods"], verbs: ["get", "list", "watch"] },
  // Kubernetes 1.33 has deprecated Endpoints.
  { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["get", "list", "watch"] },
];

function serviceMonitor(input: ComponentInput): ServiceMonitor {
  const { namespace } = input.settings;
  return {
    apiVersion: monitoring,
    kind: "ServiceMonitor",
    metadata: namespaced(component, "sriov-network-metrics-exporter", input),
    spec: {
      endpoints: [
        {
          port: "sriov-network-metrics",
          interval: "30s",
          honorLabels: true, // the labels pod and namespace are those of the VF's pod, not of the exporter
          relabelings: [
            // Of the pod: Endpoints and EndpointSlices have different labels for the node.
            { action: "replace", sourceLabels: ["__meta_kubernetes_pod_node_name"], targetLabel: "node" },
            ...["pod", "container", "namespace"].map((regex) => ({ action: "labeldrop", regex })),
          ],
          ...transport(input),
        },
      ],
      namespaceSelector: { matchNames: [namespace] },
      selector: { matchLabels: { name: metricsService } },
    },
  };
}

/** Returns how Prometheus connects: over TLS if there is a proxy, whose certificate is verified if its CA is known. */
function transport({ settings }: ComponentInput): Readonly<Record<string, unknown>> {
  const { secretName } = settings.metricsExporter;
  if (settings.images.kubeRbacProxy === undefined) return { scheme: "http" };
  const serverName = `${metricsService}.${settings.namespace}.svc`;
  const serviceCa = "/etc/prometheus/configmaps/serving-certs-ca-bundle/service-ca.crt";
  const tlsConfig =
    secretName === undefined
      ? { insecureSkipVerify: true }
      : settings.clusterType === "openshift"
        ? { serverName, caFile: serviceCa }
        : { serverName, ca: { secret: { name: secretName, key: "ca.crt" } } };
  return {
    scheme: "https",
    bearerTokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token",
    tlsConfig,
  };
}

/** Counters of VFs that the recording rules join with pods. */
const counters = [
  "tx_packets",
  "rx_packets",
  "tx_bytes",
  "rx_bytes",
  "tx_dropped",
  "rx_dropped",
  "rx_broadcast",
  "rx_multicast",
];

function recordingRules(input: ComponentInput): PrometheusRule {
  const join = "on (pciAddr, node) group_left (pod, namespace, dev_type) sriov_kubepoddevice";
  return {
    apiVersion: monitoring,
    kind: "PrometheusRule",
    metadata: namespaced(component, "sriov-vf-rules", input),
    spec: {
      groups: [
        {
          name: "sriov-network-metrics-operator.rules",
          interval: "10s",
          rules: counters.map((counter) => ({
            record: `network:sriov_vf_${counter}`,
            expr: `sriov_vf_${counter} * ${join}`,
          })),
        },
      ],
    },
  };
}
