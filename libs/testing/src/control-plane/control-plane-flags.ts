// SPDX-License-Identifier: Apache-2.0
/** etcdFlags, apiServerFlags and so on make the command lines of a minimal control plane on loopback. */
import { join } from "node:path";

/** Directory, ports and options of a control plane. */
export interface ControlPlaneLayout {
  readonly dataDir: string;
  readonly ports: { readonly etcd: number; readonly etcdPeer: number; readonly apiServer: number };
  /** Whether a controller manager runs. Without it, namespaces have no service accounts, which pods need. */
  readonly controllerManager: boolean;
  readonly scheduler?: boolean;
  readonly auditLog: boolean;
  /** Unix socket of the HTTP CONNECT proxy to real nodes, if there are any. */
  readonly nodeProxySocket?: string | undefined;
}

/** Names of the files in `dataDir` that the flags name. */
export const controlPlaneFiles = {
  caCert: "ca.crt",
  serverCert: "apiserver.crt",
  serverKey: "apiserver.key",
  serviceAccountKey: "service-account.key",
  serviceAccountPublicKey: "service-account.pub",
  admin: "admin.kubeconfig",
  auditPolicy: "audit-policy.json",
  auditLog: "audit.log",
  egress: "egress.json",
  kubeletClientCert: "kubelet-client.crt",
  kubeletClientKey: "kubelet-client.key",
  etcdData: "etcd",
} as const;

/** The processes of a control plane. */
export const components = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const;
export type Component = (typeof components)[number];

/** The log of a process, which has the output of all its starts. */
export function logFile({ dataDir }: ControlPlaneLayout, component: Component): string {
  return join(dataDir, `${component}.log`);
}

export function etcdUrl({ ports }: ControlPlaneLayout): string {
  return `http://127.0.0.1:${ports.etcd}`;
}

export function serverUrl({ ports }: ControlPlaneLayout): string {
  return `https://127.0.0.1:${ports.apiServer}`;
}

/** The first address of the range of service addresses, which the API server gives the Service `kubernetes`. */
export const apiServiceAddress = "10.0.0.1";

export function etcdFlags(layout: ControlPlaneLayout): readonly string[] {
  const peer = `http://127.0.0.1:${layout.ports.etcdPeer}`;
  return [
    `--data-dir=${join(layout.dataDir, controlPlaneFiles.etcdData)}`,
    `--listen-client-urls=${etcdUrl(layout)}`,
    `--advertise-client-urls=${etcdUrl(layout)}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    "--unsafe-no-fsync", // a killed process loses no data; only a crash of the machine would
    "--log-level=warn",
  ];
}

export function apiServerFlags(layout: ControlPlaneLayout): readonly string[] {
  const file = (name: keyof typeof controlPlaneFiles) => join(layout.dataDir, controlPlaneFiles[name]);
  return [
    `--etcd-servers=${etcdUrl(layout)}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${layout.ports.apiServer}`,
    `--tls-cert-file=${file("serverCert")}`,
    `--tls-private-key-file=${file("serverKey")}`,
    `--client-ca-file=${file("caCert")}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${file("serviceAccountPublicKey")}`,
    `--service-account-signing-key-file=${file("serviceAccountKey")}`,
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    // Without a controller manager, the service accounts that this plugin waits for are never created.
    ...(layout.controllerManager ? [] : ["--disable-admission-plugins=ServiceAccount"]),
    "--allow-privileged",
    "--shutdown-watch-termination-grace-period=2s", // otherwise SIGTERM takes a minute while a watch is open
    "--service-cluster-ip-range=10.0.0.0/24",
    "--endpoint-reconciler-type=none", // endpoints cannot have loopback addresses
    ...(layout.auditLog
      ? [
          `--audit-policy-file=${file("auditPolicy")}`,
          `--audit-log-path=${file("auditLog")}`,
          "--audit-log-maxsize=4096", // MiB; at the default of 100, the log would be rotated
        ]
      : []),
    ...(layout.nodeProxySocket === undefined
      ? []
      : [
          `--egress-selector-config-file=${file("egress")}`,
          `--kubelet-client-certificate=${file("kubeletClientCert")}`,
          `--kubelet-client-key=${file("kubeletClientKey")}`,
          "--kubelet-preferred-address-types=InternalIP",
          "--enable-aggregator-routing", // calls webhooks at the addresses of their pods, because no kube-proxy runs here
        ]),
  ];
}

/**
 * Returns the configuration with which the API server reaches kubelets and webhooks through a proxy, as clusters do whose
 * control plane is outside of the network of the nodes.
 */
export function egressConfiguration({ nodeProxySocket = "" }: ControlPlaneLayout): string {
  const transport = { uds: { udsName: nodeProxySocket } };
  return JSON.stringify({
    apiVersion: "apiserver.k8s.io/v1beta1",
    kind: "EgressSelectorConfiguration",
    egressSelections: [{ name: "cluster", connection: { proxyProtocol: "HTTPConnect", transport } }],
  });
}

export function controllerManagerFlags(layout: ControlPlaneLayout): readonly string[] {
  const file = (name: keyof typeof controlPlaneFiles) => join(layout.dataDir, controlPlaneFiles[name]);
  return [
    `--kubeconfig=${file("admin")}`,
    `--root-ca-file=${file("caCert")}`,
    `--service-account-private-key-file=${file("serviceAccountKey")}`,
    "--use-service-account-credentials",
    // At the default of 20 requests a second, creating a service account for each controller takes four seconds.
    "--kube-api-qps=1000",
    "--kube-api-burst=1000",
    "--leader-elect=false",
    "--secure-port=0", // no server, so no port is needed
  ];
}

export function schedulerFlags(layout: ControlPlaneLayout): readonly string[] {
  return [
    `--kubeconfig=${join(layout.dataDir, controlPlaneFiles.admin)}`,
    "--leader-elect=false",
    "--secure-port=0", // no server, so no port is needed
  ];
}
