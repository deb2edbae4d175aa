// SPDX-License-Identifier: Apache-2.0
/**
 * etcdFlags, apiServerFlags and controllerManagerFlags make the command lines of a minimal control plane on loopback.
 * Usage: `spawnGuarded("/cache/kube-apiserver", apiServerFlags(layout), { log: "/tmp/kube-apiserver.log" })`.
 */
import { join } from "node:path";

/** Directory, ports and options of a control plane. */
export interface ControlPlaneLayout {
  readonly dataDir: string;
  readonly ports: { readonly etcd: number; readonly etcdPeer: number; readonly apiServer: number };
  /** Whether a controller manager runs. Without it, namespaces have no service accounts, which pods need. */
  readonly controllerManager: boolean;
  readonly auditLog: boolean;
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
  etcdData: "etcd",
} as const;

export function etcdUrl({ ports }: ControlPlaneLayout): string {
  return `http://127.0.0.1:${ports.etcd}`;
}

export function serverUrl({ ports }: ControlPlaneLayout): string {
  return `https://127.0.0.1:${ports.apiServer}`;
}

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
  ];
}

export function controllerManagerFlags(layout: ControlPlaneLayout): readonly string[] {
  const file = (name: keyof typeof controlPlaneFiles) => join(layout.dataDir, controlPlaneFiles[name]);
  return [
    `--kubeconfig=${file("admin")}`,
    `--root-ca-file=${file("caCert")}`,
    `--service-account-private-key-file=${file("serviceAccountKey")}`,
    "--use-service-account-credentials",
    "--leader-elect=false",
    "--secure-port=0", // no server, so no port is needed
  ];
}
