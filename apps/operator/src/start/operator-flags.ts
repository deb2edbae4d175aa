// SPDX-License-Identifier: Apache-2.0
/**
 * Flags of the operator, beside those that all services have. Where upstream's operator has an environment variable for
 * a setting, the flag reads the same variable, so a Deployment of upstream's operator works unchanged
 * (sriov-operator.md H). operator-settings.ts turns the values into the settings of the deployed components.
 */
import { isAbsolute, normalize } from "node:path/posix";
import { parseAdmissionPlacement, type AdmissionPlacement } from "@switchyard/render";
import { flag, integer, oneOf, text, yesOrNo, type FlagKind, type FlagsOf } from "@switchyard/service";

/** Values of operatorFlags. */
export type OperatorFlagValues = typeof operatorFlags extends FlagsOf<infer Values> ? Values : never;

/** A comma-separated list. Surrounding blanks and empty items are dropped. */
const list: FlagKind<readonly string[]> = {
  placeholder: "NAME,NAME",
  expected: "a comma-separated list of names",
  parse: (value) => {
    const names = value.split(",").map((name) => name.trim());
    return names.filter((name) => name !== "");
  },
};

const kubeletDirectory: FlagKind<string> = {
  placeholder: "DIR",
  expected: "an absolute path without a slash at its end",
  parse: (value) => (isAbsolute(value) && normalize(value) === value && !value.endsWith("/") ? value : undefined),
};

const placement: FlagKind<AdmissionPlacement> = {
  placeholder: "JSON",
  expected: "a JSON object with nodeSelector, tolerations or affinity, as in the spec of a pod",
  parse: parseAdmissionPlacement,
};

const port = integer({ minimum: 1, maximum: 65_535 });

const tlsVersion = oneOf("VersionTLS12", "VersionTLS13");

function image(env: string, component: string) {
  return flag(text("IMAGE"), { env, help: `Image of ${component}.` });
}

function optionalImage(env: string, plugin: string) {
  return flag(text("IMAGE"), {
    env,
    help: `Image of the ${plugin} CNI plugin. If unset, the plugin is not installed.`,
  });
}

export const operatorFlags = {
  leaderElect: flag(yesOrNo, {
    default: "true",
    env: "LEADER_ELECT",
    help: "Run the controllers only while holding the Lease switchyard-operator. Required for more than one replica.",
  }),
  resourcePrefix: flag(text("PREFIX"), {
    default: "openshift.io",
    env: "RESOURCE_PREFIX",
    help: "Prefix of resource names, the part before the slash.",
  }),
  clusterType: flag(oneOf("kubernetes", "openshift"), {
    default: "kubernetes",
    env: "CLUSTER_TYPE",
    help: "Type of the cluster.",
  }),
  staleNodeStateCleanupDelayMinutes: flag(text("MINUTES"), {
    default: "30",
    env: "STALE_NODE_STATE_CLEANUP_DELAY_MINUTES",
    help: "Minutes for which the SriovNetworkNodeState of a removed node is kept. 0 deletes it at once.",
  }),
  useExternalDrainer: flag(yesOrNo, {
    default: "false",
    env: "USE_EXTERNAL_DRAINER",
    help: "Leave draining of nodes to an external drainer.",
  }),
  ovsdbSocketPath: flag(text("PATH"), {
    env: "OVSDB_SOCKET_PATH",
    help:
      "Socket of ovsdb-server on the nodes, for the feature gate manageSoftwareBridges; by default " +
      "/var/run/openvswitch/db.sock.",
  }),
  writeConfigmap: flag(yesOrNo, {
    default: "false",
    env: "WRITE_CONFIGMAP",
    help:
      "Also write upstream's ConfigMap device-plugin-config, for tools that read it. It is limited to 1 MiB. Without the flag, it " +
      "is no longer updated.",
  }),
  devMode: flag(yesOrNo, {
    default: "false",
    env: "DEV_MODE",
    help: "Accept policies for NICs that are not in the list of supported NICs.",
  }),
  serviceAccount: flag(text("NAME"), {
    default: "switchyard-operator",
    env: "OPERATOR_SERVICE_ACCOUNT",
    help: "ServiceAccount of the operator. The ClusterRole of the same name owns the cluster-scoped objects that are deployed.",
  }),

  configDaemonImage: image("SRIOV_NETWORK_CONFIG_DAEMON_IMAGE", "the config daemon"),
  devicePluginConfigImage: image(
    "DEVICE_PLUGIN_CONFIG_IMAGE",
    "the container that writes the device plugin's configuration on each node",
  ),
  draDriverImage: image("SRIOV_DRA_DRIVER_IMAGE", "the driver that gives VFs to pods by ResourceClaims"),
  afxdpDevicePluginImage: image("AFXDP_DEVICE_PLUGIN_IMAGE", "the device plugin for AF_XDP"),
  afxdpPluginsImage: image(
    "AFXDP_PLUGINS_IMAGE",
    "the plugins of afxdp-plugins-for-kubernetes, for provider upstream of the AfxdpOperatorConfig",
  ),
  webhookImage: image("SRIOV_NETWORK_WEBHOOK_IMAGE", "the admission webhook"),
  devicePluginImage: image("SRIOV_DEVICE_PLUGIN_IMAGE", "the SR-IOV device plugin"),
  injectorImage: image("NETWORK_RESOURCES_INJECTOR_IMAGE", "the network resources injector"),
  metricsExporterImage: image("METRICS_EXPORTER_IMAGE", "the metrics exporter"),
  kubeRbacProxyImage: image(
    "METRICS_EXPORTER_KUBE_RBAC_PROXY_IMAGE",
    "kube-rbac-proxy, which runs in front of the metrics exporter",
  ),
  sriovCniImage: image("SRIOV_CNI_IMAGE", "the sriov CNI plugin"),
  ibSriovCniImage: image("SRIOV_INFINIBAND_CNI_IMAGE", "the ib-sriov CNI plugin"),
  ovsCniImage: optionalImage("OVS_CNI_IMAGE", "ovs"),
  rdmaCniImage: optionalImage("RDMA_CNI_IMAGE", "rdma"),
  acceleratedBridgeCniImage: optionalImage("ACCELERATED_BRIDGE_CNI_IMAGE", "accelerated-bridge"),
  imagePullSecrets: flag(list, {
    env: "IMAGE_PULL_SECRETS",
    help: "Image pull secrets of the deployed pods.",
  }),
  cniBinPath: flag(text("DIR"), {
    default: "/var/lib/cni/bin",
    env: "SRIOV_CNI_BIN_PATH",
    help: "Directory of CNI plugins on the nodes.",
  }),
  kubeletDirectory: flag(kubeletDirectory, {
    env: "KUBELET_DIRECTORY",
    help: "Directory of the kubelet on the nodes (--root-dir), with device-plugins and pod-resources. /var/lib/kubelet if not set.",
  }),
  attachNetworks: flag(yesOrNo, {
    default: "true",
    env: "ATTACH_NETWORKS",
    help: "Let the driver of ResourceClaims attach VFs to pods without Multus, if their claim names a network. Needs NRI.",
  }),

  certManager: flag(yesOrNo, {
    default: "false",
    env: "ADMISSION_CONTROLLERS_CERTIFICATES_CERT_MANAGER_ENABLED",
    help: "Let cert-manager issue the certificates of the webhook and the injector. Each Certificate has the name of its Secret.",
  }),
  webhookSecret: flag(text("NAME"), {
    default: "operator-webhook-cert",
    env: "ADMISSION_CONTROLLERS_CERTIFICATES_OPERATOR_SECRET_NAME",
    help: "Secret with the certificate of the webhook.",
  }),
  webhookCa: flag(text("CERTIFICATE"), {
    env: "ADMISSION_CONTROLLERS_CERTIFICATES_OPERATOR_CA_CRT",
    help:
      "CA certificate of the webhook, as PEM or base64-encoded PEM. If unset, cert-manager, the OpenShift service CA or the " +
      "operator provides it.",
  }),
  webhookPort: flag(port, {
    default: "6443",
    env: "OPERATOR_WEBHOOK_NETWORK_POLICY_PORT",
    help: "Target port of the API server. The NetworkPolicy of the webhook allows egress to this port only.",
  }),
  injectorSecret: flag(text("NAME"), {
    default: "network-resources-injector-cert",
    env: "ADMISSION_CONTROLLERS_CERTIFICATES_INJECTOR_SECRET_NAME",
    help: "Secret with the certificate of the injector.",
  }),
  injectorCa: flag(text("CERTIFICATE"), {
    env: "ADMISSION_CONTROLLERS_CERTIFICATES_INJECTOR_CA_CRT",
    help:
      "CA certificate of the injector, as PEM or base64-encoded PEM. If unset, cert-manager, the OpenShift service CA or the " +
      "operator provides it.",
  }),
  injectorPort: flag(port, {
    default: "6443",
    env: "INJECTOR_WEBHOOK_NETWORK_POLICY_PORT",
    help: "Target port of the API server. The NetworkPolicy of the injector allows egress to this port only.",
  }),
  admissionPlacement: flag(placement, {
    env: "ADMISSION_CONTROLLERS_PLACEMENT",
    help:
      "Nodes for the webhook and the injector: nodeSelector, tolerations and affinity in JSON. Default: visible control " +
      "plane nodes, or else any node.",
  }),
  tlsMinVersion: flag(tlsVersion, {
    env: "TLS_MIN_VERSION",
    help: "Minimum TLS version of the deployed servers. On OpenShift the TLS profile of the cluster takes precedence.",
  }),
  tlsCipherSuites: flag(list, {
    env: "TLS_CIPHER_SUITES",
    help: "Cipher suites of the deployed servers, by IANA or OpenSSL name.",
  }),
  tlsCurvePreferences: flag(list, {
    env: "TLS_CURVE_PREFERENCES",
    help: "Key exchange curves of the deployed servers, in order of preference.",
  }),

  metricsExporterPort: flag(port, {
    default: "9110",
    env: "METRICS_EXPORTER_PORT",
    help: "Port of the metrics exporter on each node.",
  }),
  metricsExporterSecret: flag(text("NAME"), {
    env: "METRICS_EXPORTER_SECRET_NAME",
    help: "Secret with the certificate of kube-rbac-proxy in front of the metrics exporter.",
  }),
  prometheusOperator: flag(yesOrNo, {
    default: "false",
    env: "METRICS_EXPORTER_PROMETHEUS_OPERATOR_ENABLED",
    help: "Deploy a ServiceMonitor for the metrics exporter, for the Prometheus operator.",
  }),
  prometheusRules: flag(yesOrNo, {
    default: "false",
    env: "METRICS_EXPORTER_PROMETHEUS_DEPLOY_RULES",
    help: "Deploy recording rules that join VF counters with pods.",
  }),
  prometheusServiceAccount: flag(text("NAME"), {
    default: "prometheus-k8s",
    env: "METRICS_EXPORTER_PROMETHEUS_OPERATOR_SERVICE_ACCOUNT",
    help: "ServiceAccount of Prometheus, which is allowed to read the metrics.",
  }),
  prometheusNamespace: flag(text("NAMESPACE"), {
    default: "monitoring",
    env: "METRICS_EXPORTER_PROMETHEUS_OPERATOR_NAMESPACE",
    help: "Namespace of Prometheus.",
  }),
};
