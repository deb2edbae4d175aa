// SPDX-License-Identifier: Apache-2.0
/**
 * ComponentSettings has the settings of the operator process that determine what it deploys, in addition to the
 * SriovOperatorConfig (sriov-operator.md H).
 */
import type { AdmissionPlacement } from "./servers/admission-placement.ts";

/** Kind of cluster that the operator runs in. */
export type ClusterType = "kubernetes" | "openshift";

/** Settings of the operator process. */
export interface ComponentSettings {
  /** Namespace of the operator and of all namespaced components. */
  readonly namespace: string;
  /** Prefix of resource names, the part before the slash: "openshift.io". */
  readonly resourcePrefix: string;
  readonly clusterType: ClusterType;
  /** Service account of the operator. The webhook does not review the operator's own writes. */
  readonly operatorServiceAccount: string;
  /** Whether the cluster has no control plane nodes. If so, the admission servers may run on any node. */
  readonly isControlPlaneExternal?: boolean | undefined;
  readonly images: ComponentImages;
  /** Names of the image pull secrets of all pods. */
  readonly imagePullSecrets: readonly string[];
  /** Directory of the CNI plugins on the nodes: "/opt/cni/bin". */
  readonly cniBinPath: string;
  /** Directory of the kubelet on the nodes; "/var/lib/kubelet" by default. */
  readonly kubeletDirectory?: string | undefined;
  /** Whether the driver of ResourceClaims attaches VFs to pods without Multus; by default, it does. */
  readonly attachesNetworks?: boolean | undefined;
  /** Where the webhook and the injector run; by default on control plane nodes. */
  readonly admissionPlacement?: AdmissionPlacement | undefined;
  readonly webhook: AdmissionServerSettings;
  readonly injector: AdmissionServerSettings;
  /** TLS settings of the deployed servers. On OpenShift the caller passes the TLS profile of the cluster. */
  readonly tls: TlsSettings;
  readonly metricsExporter: MetricsExporterSettings;
  /** Whether components serve metrics over TLS, to those who may read them. Otherwise only the webhook serves metrics. */
  readonly hasSecureMetrics?: boolean | undefined;
  /** Whether another program drains the nodes. */
  readonly useExternalDrainer: boolean;
  /** Socket of ovsdb-server on the nodes; by default the config daemon's default. */
  readonly ovsdbSocketPath?: string | undefined;
  /** The stored configuration of the injector, whose other keys belong to users; undefined if there is none. */
  readonly injectorConfig?: string | undefined;
  /** Whether policies may use network cards that are not in the list of supported cards. */
  readonly devMode: boolean;
  /** Whether a node gives VFs to ResourceClaims, or is to. Then the driver for them is deployed; by default, it is not. */
  readonly usesClaims?: boolean | undefined;
  /** Whether the cluster does not serve resource.k8s.io/v1, as before Kubernetes 1.34; by default, it does. */
  readonly lacksClaims?: boolean | undefined;
}

/**
 * Environment variables of the operator that contain the images, with upstream's names if upstream has the variable.
 * The last three CNI plugins are optional.
 */
export const componentImageVariables = {
  configDaemon: "SRIOV_NETWORK_CONFIG_DAEMON_IMAGE",
  devicePluginConfig: "DEVICE_PLUGIN_CONFIG_IMAGE",
  webhook: "SRIOV_NETWORK_WEBHOOK_IMAGE",
  devicePlugin: "SRIOV_DEVICE_PLUGIN_IMAGE",
  draDriver: "SRIOV_DRA_DRIVER_IMAGE",
  injector: "NETWORK_RESOURCES_INJECTOR_IMAGE",
  afxdpDevicePlugin: "AFXDP_DEVICE_PLUGIN_IMAGE",
  afxdpPlugins: "AFXDP_PLUGINS_IMAGE",
  metricsExporter: "METRICS_EXPORTER_IMAGE",
  kubeRbacProxy: "METRICS_EXPORTER_KUBE_RBAC_PROXY_IMAGE",
  sriovCni: "SRIOV_CNI_IMAGE",
  ibSriovCni: "SRIOV_INFINIBAND_CNI_IMAGE",
  ovsCni: "OVS_CNI_IMAGE",
  rdmaCni: "RDMA_CNI_IMAGE",
  acceleratedBridgeCni: "ACCELERATED_BRIDGE_CNI_IMAGE",
} as const;

/** Name of an image. */
export type ComponentImageName = keyof typeof componentImageVariables;

/** Image references. A component is only deployed if all images that it needs are set. */
export type ComponentImages = Readonly<Partial<Record<ComponentImageName, string | undefined>>>;

/** Settings of a server that the API server calls. */
export interface AdmissionServerSettings {
  readonly certificates: CertificateSource;
  /** Name of the Secret with tls.crt and tls.key. */
  readonly secretName: string;
  /** Secret path before the paths at which the server answers; undefined or empty if it answers without one. */
  readonly secretPath?: string | undefined;
  /** Secret path that the pods get by an environment variable, because another program provides their certificate. */
  readonly podPath?: string | undefined;
  /** Port of the API server behind its Service. The NetworkPolicy allows this server no other outgoing connections. */
  readonly port: number;
}

/**
 * Where a server's certificate comes from. Only with "given" the rendered webhook configuration contains caBundle;
 * otherwise another writer sets it.
 */
export type CertificateSource =
  /** The operator creates the certificate. */
  | { readonly kind: "self-made" }
  /** An administrator has created the Secret. `caBundle` is the CA certificate, as base64 of PEM. */
  | { readonly kind: "given"; readonly caBundle: string }
  /** cert-manager creates it from a Certificate that has the name of the Secret. */
  | { readonly kind: "cert-manager" }
  /** OpenShift's service CA creates it. */
  | { readonly kind: "service-ca" };

/** TLS settings, with upstream's names. An absent setting means the server's own default. */
export interface TlsSettings {
  readonly minVersion?: "VersionTLS12" | "VersionTLS13" | undefined;
  /** IANA or OpenSSL names of cipher suites. */
  readonly cipherSuites: readonly string[];
  /** Names of curves, for example "X25519", in order of preference. */
  readonly curvePreferences: readonly string[];
}

/** Settings of the metrics exporter. */
export interface MetricsExporterSettings {
  readonly port: number;
  /** Secret with tls.crt and tls.key of the proxy in front of the exporter. On OpenShift the service CA creates it. */
  readonly secretName?: string | undefined;
  /** If absent, no ServiceMonitor and no other object for a Prometheus operator is deployed. */
  readonly prometheusOperator?: PrometheusOperatorSettings | undefined;
}

/** Settings for a cluster with a Prometheus operator. */
export interface PrometheusOperatorSettings {
  /** Service account of Prometheus, which gets the right to read the endpoints. */
  readonly serviceAccount: string;
  /** Namespace of that service account. */
  readonly namespace: string;
  /** Whether to deploy recording rules that join the counters of VFs with the pods that use them. */
  readonly deployRules: boolean;
}

/** The directory of the kubelet in containers, which the programs of others expect. */
export const kubeletMountPath = "/var/lib/kubelet";

/** Reports whether the kubelet of the nodes has another directory than that in containers. */
export function hasOtherKubeletDirectory({ kubeletDirectory = kubeletMountPath }: ComponentSettings): boolean {
  return kubeletDirectory !== kubeletMountPath;
}

/** Returns the path on the node for a path of the kubelet in a container; another path stays the same. */
export function pathOnNode({ kubeletDirectory = kubeletMountPath }: ComponentSettings, path: string): string {
  return path.startsWith(`${kubeletMountPath}/`) ? `${kubeletDirectory}${path.slice(kubeletMountPath.length)}` : path;
}
