// SPDX-License-Identifier: Apache-2.0
/**
 * The operator's own flags. Their variables are upstream's, as far as it has them (sriov-operator.md H), so that a
 * deployment of upstream's operator needs no other ones; what they mean for what is deployed is in operator-settings.ts.
 */
import { flag, integer, oneOf, text, yesOrNo, type FlagKind, type FlagsOf } from "@switchyard/service";

/** Values of operatorFlags. */
export type OperatorFlagValues = typeof operatorFlags extends FlagsOf<infer Values> ? Values : never;

/** Words with commas between them; blanks and empty ones are left out. */
const list: FlagKind<readonly string[]> = {
  placeholder: "NAME,NAME",
  expected: "a list of names with commas between them",
  parse: (value) => {
    const names = value.split(",").map((name) => name.trim());
    return names.filter((name) => name !== "");
  },
};

const port = integer({ minimum: 1, maximum: 65_535 });

const tlsVersion = oneOf("VersionTLS12", "VersionTLS13");

function image(env: string, of: string) {
  return flag(text("IMAGE"), { env, help: `Image of ${of}.` });
}

export const operatorFlags = {
  leaderElect: flag(yesOrNo, {
    default: "true",
    env: "LEADER_ELECT",
    help: "Work only while holding the Lease, so that several replicas can stand by.",
  }),
  resourcePrefix: flag(text("PREFIX"), {
    default: "openshift.io",
    env: "RESOURCE_PREFIX",
    help: "Before the slash of the resources' names.",
  }),
  clusterType: flag(oneOf("kubernetes", "openshift"), {
    default: "kubernetes",
    env: "CLUSTER_TYPE",
    help: "What the cluster is.",
  }),
  staleNodeStateCleanupDelayMinutes: flag(text("MINUTES"), {
    default: "30",
    env: "STALE_NODE_STATE_CLEANUP_DELAY_MINUTES",
    help: "How long the state of a node that left is kept; 0 deletes it at once.",
  }),
  useExternalDrainer: flag(yesOrNo, {
    default: "false",
    env: "USE_EXTERNAL_DRAINER",
    help: "Leave draining to somebody else.",
  }),
  writeConfigmap: flag(yesOrNo, {
    default: "false",
    env: "WRITE_CONFIGMAP",
    help:
      "Keep upstream's ConfigMap device-plugin-config, too, for those who read it. " +
      "Ours do not, and fleets may be too large for it. Switched off again, it stays as it is.",
  }),
  devMode: flag(yesOrNo, {
    default: "false",
    env: "DEV_MODE",
    help: "Network cards need not be listed as supported.",
  }),
  serviceAccount: flag(text("NAME"), {
    default: "switchyard-operator",
    env: "OPERATOR_SERVICE_ACCOUNT",
    help: "The operator's own. Its ClusterRole has the same name, and owns what is deployed outside of namespaces.",
  }),

  configDaemonImage: image("SRIOV_NETWORK_CONFIG_DAEMON_IMAGE", "the config daemon"),
  devicePluginConfigImage: image("DEVICE_PLUGIN_CONFIG_IMAGE", "what configures the device plugin on a node"),
  webhookImage: image("SRIOV_NETWORK_WEBHOOK_IMAGE", "the admission webhook"),
  devicePluginImage: image("SRIOV_DEVICE_PLUGIN_IMAGE", "the SR-IOV device plugin"),
  injectorImage: image("NETWORK_RESOURCES_INJECTOR_IMAGE", "the network resources injector"),
  metricsExporterImage: image("METRICS_EXPORTER_IMAGE", "the metrics exporter"),
  kubeRbacProxyImage: image("METRICS_EXPORTER_KUBE_RBAC_PROXY_IMAGE", "the proxy before the metrics exporter"),
  sriovCniImage: image("SRIOV_CNI_IMAGE", "the CNI plugin sriov"),
  ibSriovCniImage: image("SRIOV_INFINIBAND_CNI_IMAGE", "the CNI plugin ib-sriov"),
  ovsCniImage: image("OVS_CNI_IMAGE", "the CNI plugin ovs; without it, it is not installed"),
  rdmaCniImage: image("RDMA_CNI_IMAGE", "the CNI plugin rdma; without it, it is not installed"),
  acceleratedBridgeCniImage: image(
    "ACCELERATED_BRIDGE_CNI_IMAGE",
    "the CNI plugin accelerated-bridge; without it, it is not installed",
  ),
  imagePullSecrets: flag(list, {
    env: "IMAGE_PULL_SECRETS",
    help: "Secrets that the images are pulled with.",
  }),
  cniBinPath: flag(text("DIR"), {
    default: "/var/lib/cni/bin",
    env: "SRIOV_CNI_BIN_PATH",
    help: "Where CNI plugins are on the nodes.",
  }),

  certManager: flag(yesOrNo, {
    default: "false",
    env: "ADMISSION_CONTROLLERS_CERTIFICATES_CERT_MANAGER_ENABLED",
    help: "cert-manager makes the certificates of webhook and injector, by Certificates with the names of their Secrets.",
  }),
  webhookSecret: flag(text("NAME"), {
    default: "operator-webhook-cert",
    env: "ADMISSION_CONTROLLERS_CERTIFICATES_OPERATOR_SECRET_NAME",
    help: "Secret with the webhook's certificate.",
  }),
  webhookCa: flag(text("CERTIFICATE"), {
    env: "ADMISSION_CONTROLLERS_CERTIFICATES_OPERATOR_CA_CRT",
    help: "Who signed the webhook's certificate, PEM as it is or in base64. Absent: whoever makes the certificate tells.",
  }),
  webhookPort: flag(port, {
    default: "6443",
    env: "OPERATOR_WEBHOOK_NETWORK_POLICY_PORT",
    help: "Port of the API server behind its Service: the only one that the webhook's NetworkPolicy lets it call.",
  }),
  injectorSecret: flag(text("NAME"), {
    default: "network-resources-injector-cert",
    env: "ADMISSION_CONTROLLERS_CERTIFICATES_INJECTOR_SECRET_NAME",
    help: "Secret with the injector's certificate.",
  }),
  injectorCa: flag(text("CERTIFICATE"), {
    env: "ADMISSION_CONTROLLERS_CERTIFICATES_INJECTOR_CA_CRT",
    help: "Who signed the injector's certificate, PEM as it is or in base64. Absent: whoever makes the certificate tells.",
  }),
  injectorPort: flag(port, {
    default: "6443",
    env: "INJECTOR_WEBHOOK_NETWORK_POLICY_PORT",
    help: "Port of the API server behind its Service: the only one that the injector's NetworkPolicy lets it call.",
  }),
  tlsMinVersion: flag(tlsVersion, {
    env: "TLS_MIN_VERSION",
    help: "Least version of TLS of the servers that are deployed. On OpenShift the cluster's profile comes before it.",
  }),
  tlsCipherSuites: flag(list, {
    env: "TLS_CIPHER_SUITES",
    help: "Cipher suites of theirs by their IANA or OpenSSL names.",
  }),
  tlsCurvePreferences: flag(list, {
    env: "TLS_CURVE_PREFERENCES",
    help: "Curves of their key exchange, the preferred one first.",
  }),

  metricsExporterPort: flag(port, {
    default: "9110",
    env: "METRICS_EXPORTER_PORT",
    help: "Port of the metrics exporter on each node.",
  }),
  metricsExporterSecret: flag(text("NAME"), {
    env: "METRICS_EXPORTER_SECRET_NAME",
    help: "Secret with the certificate of the proxy before the metrics exporter.",
  }),
  prometheusOperator: flag(yesOrNo, {
    default: "false",
    env: "METRICS_EXPORTER_PROMETHEUS_OPERATOR_ENABLED",
    help: "Tell the Prometheus operator of the metrics exporter.",
  }),
  prometheusRules: flag(yesOrNo, {
    default: "false",
    env: "METRICS_EXPORTER_PROMETHEUS_DEPLOY_RULES",
    help: "Deploy rules that join the counters of VFs with pods.",
  }),
  prometheusServiceAccount: flag(text("NAME"), {
    default: "prometheus-k8s",
    env: "METRICS_EXPORTER_PROMETHEUS_OPERATOR_SERVICE_ACCOUNT",
    help: "Prometheus' own, so that it may read.",
  }),
  prometheusNamespace: flag(text("NAMESPACE"), {
    default: "monitoring",
    env: "METRICS_EXPORTER_PROMETHEUS_OPERATOR_NAMESPACE",
    help: "Where Prometheus is.",
  }),
};
