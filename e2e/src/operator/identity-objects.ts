// SPDX-License-Identifier: Apache-2.0
/** Settings and objects with which tests deploy all components of Switchyard. */
import type { SriovOperatorConfig } from "@switchyard/api";
import { componentImageVariables, type ComponentSettings } from "@switchyard/render";

/** The operator's namespace. */
export const namespace = "sriov-network-operator";

/** Settings of the operator with an image for each component. */
export const componentSettings: ComponentSettings = {
  namespace,
  resourcePrefix: "openshift.io",
  clusterType: "kubernetes",
  operatorServiceAccount: "switchyard-operator",
  images: Object.fromEntries(
    Object.keys(componentImageVariables).map((name) => [name, `example.com/${name.toLowerCase()}:1`]),
  ),
  imagePullSecrets: ["registry"],
  cniBinPath: "/opt/cni/bin",
  webhook: { certificates: { kind: "self-made" }, secretName: "operator-webhook-cert", port: 6443 },
  injector: { certificates: { kind: "self-made" }, secretName: "network-resources-injector-cert", port: 6443 },
  tls: { minVersion: "VersionTLS13", cipherSuites: [], curvePreferences: ["X25519"] },
  metricsExporter: {
    port: 9110,
    secretName: "metrics-exporter-cert",
    prometheusOperator: { serviceAccount: "prometheus-k8s", namespace: "monitoring", deployRules: true },
  },
  useExternalDrainer: false,
  devMode: false,
};

/** A config that enables every component. */
export const everyComponent: SriovOperatorConfig = {
  apiVersion: "sriovnetwork.openshift.io/v1",
  kind: "SriovOperatorConfig",
  metadata: { name: "default", namespace },
  spec: {
    enableInjector: true,
    enableOperatorWebhook: true,
    useCDI: true,
    featureGates: { metricsExporter: true, resourceInjectorMatchCondition: true },
    configDaemonEnvVars: { METRICS_ADDRESS: ":29120" },
  },
};

/** CRDs of a Prometheus operator without schemas, which accept any object. */
export const monitoringCrds = [
  crdWithoutSchema("monitoring.coreos.com", { kind: "ServiceMonitor", plural: "servicemonitors" }),
  crdWithoutSchema("monitoring.coreos.com", { kind: "PrometheusRule", plural: "prometheusrules" }),
];

/** CRDs of cert-manager without schemas. */
export const certManagerCrds = [
  crdWithoutSchema("cert-manager.io", { kind: "Certificate", plural: "certificates" }),
  crdWithoutSchema("cert-manager.io", { kind: "Issuer", plural: "issuers" }),
];

/** Returns a CRD of another project that accepts any object. */
function crdWithoutSchema(group: string, names: { readonly kind: string; readonly plural: string }) {
  const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${names.plural}.${group}` },
    spec: {
      group,
      names,
      scope: "Namespaced",
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}
