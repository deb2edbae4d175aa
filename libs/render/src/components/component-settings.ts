// SPDX-License-Identifier: Apache-2.0
/**
 * What decides, beside the SriovOperatorConfig, what the operator deploys: how the operator itself was started
 * (sriov-operator.md H).
 */

export type ClusterType = "kubernetes" | "openshift";

export interface ComponentSettings {
  /** The operator's; all namespaced objects are there. */
  readonly namespace: string;
  /** Before the slash of a resource's full name: "openshift.io". */
  readonly resourcePrefix: string;
  readonly clusterType: ClusterType;
  /** Who the operator is: its own writes need no review by its webhook. */
  readonly operatorServiceAccount: string;
  /** No node of this cluster is a control plane node, so what else runs there runs on any. */
  readonly isControlPlaneExternal?: boolean | undefined;
  readonly images: ComponentImages;
  /** Names of Secrets, for all pods. */
  readonly imagePullSecrets: readonly string[];
  /** Where CNI plugins are on the nodes: "/opt/cni/bin". */
  readonly cniBinPath: string;
  readonly webhook: AdmissionServerSettings;
  readonly injector: AdmissionServerSettings;
  /** For the servers that we run. On OpenShift the caller puts the cluster's profile here. */
  readonly tls: TlsSettings;
  readonly metricsExporter: MetricsExporterSettings;
  /** Draining is left to somebody else. */
  readonly useExternalDrainer: boolean;
  /** Network cards need not be listed as supported. */
  readonly devMode: boolean;
}

/**
 * Images by the variable of the operator's environment that has them, upstream's as far as it has one. First ours; the
 * last three, CNI plugins, are installed only where their image is given.
 */
export const componentImageVariables = {
  configDaemon: "SRIOV_NETWORK_CONFIG_DAEMON_IMAGE",
  devicePluginConfig: "DEVICE_PLUGIN_CONFIG_IMAGE",
  webhook: "SRIOV_NETWORK_WEBHOOK_IMAGE",
  devicePlugin: "SRIOV_DEVICE_PLUGIN_IMAGE",
  injector: "NETWORK_RESOURCES_INJECTOR_IMAGE",
  metricsExporter: "METRICS_EXPORTER_IMAGE",
  kubeRbacProxy: "METRICS_EXPORTER_KUBE_RBAC_PROXY_IMAGE",
  sriovCni: "SRIOV_CNI_IMAGE",
  ibSriovCni: "SRIOV_INFINIBAND_CNI_IMAGE",
  ovsCni: "OVS_CNI_IMAGE",
  rdmaCni: "RDMA_CNI_IMAGE",
  acceleratedBridgeCni: "ACCELERATED_BRIDGE_CNI_IMAGE",
} as const;

export type ComponentImageName = keyof typeof componentImageVariables;

/** References of images. A component is deployed only if it has those that it needs. */
export type ComponentImages = Readonly<Partial<Record<ComponentImageName, string | undefined>>>;

/** A server that the API server calls. */
export interface AdmissionServerSettings {
  readonly certificates: CertificateSource;
  /** The Secret that has tls.crt and tls.key, whoever makes it. */
  readonly secretName: string;
  /** Port of the API server behind its Service: the only one that the NetworkPolicy lets this server call. */
  readonly port: number;
}

/**
 * Who makes a server's certificate, and how the API server comes to trust it. What is not "given" is announced in
 * caBundle by somebody else, so that we never say anything there.
 */
export type CertificateSource =
  /** The operator does. */
  | { readonly kind: "self-made" }
  /** Somebody put it there. `caBundle` is the authority, PEM in base64. */
  | { readonly kind: "given"; readonly caBundle: string }
  /** cert-manager, by a Certificate with the name of the Secret. */
  | { readonly kind: "cert-manager" }
  /** OpenShift's service CA. */
  | { readonly kind: "service-ca" };

/** As upstream names them; what is absent is the server's own default. */
export interface TlsSettings {
  readonly minVersion?: "VersionTLS12" | "VersionTLS13" | undefined;
  /** Names of IANA or OpenSSL. */
  readonly cipherSuites: readonly string[];
  /** "X25519", the preferred one first. */
  readonly curvePreferences: readonly string[];
}

export interface MetricsExporterSettings {
  readonly port: number;
  /** Secret with tls.crt and tls.key of the proxy before the exporter. On OpenShift the service CA makes it. */
  readonly secretName?: string | undefined;
  /** Absent: no ServiceMonitor and nothing else for a Prometheus operator. */
  readonly prometheusOperator?: PrometheusOperatorSettings | undefined;
}

export interface PrometheusOperatorSettings {
  /** Of Prometheus, so that it may read the endpoints. */
  readonly serviceAccount: string;
  readonly namespace: string;
  /** Whether to deploy recording rules that join VF counters with pods. */
  readonly deployRules: boolean;
}
