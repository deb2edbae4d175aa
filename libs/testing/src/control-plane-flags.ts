// SPDX-License-Identifier: Apache-2.0
/**
 * Command lines of a control plane on loopback, with nothing that a test does not need (control-plane.md).
 * Usage: `spawnGuarded(binary, apiServerFlags(layout), { log })`
 */
import { join } from "node:path";

/** What the processes are told: one directory for all files, and their ports. */
export interface ControlPlaneLayout {
  readonly dataDir: string;
  readonly ports: { readonly etcd: number; readonly etcdPeer: number; readonly apiServer: number };
  /** Whether a controller manager runs: only then do namespaces get the service accounts that pods need. */
  readonly controllerManager: boolean;
  readonly auditLog: boolean;
}

/** Names of the files in `dataDir` that the flags refer to, or that come of them. */
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
    "--unsafe-no-fsync", // killed processes lose nothing by it, only a crash of the machine does
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
    // Without a controller manager nobody makes the service accounts that this plugin would wait for.
    ...(layout.controllerManager ? [] : ["--disable-admission-plugins=ServiceAccount"]),
    "--allow-privileged",
    "--shutdown-watch-termination-grace-period=2s", // else SIGTERM takes a minute while a watch is open
    "--service-cluster-ip-range=10.0.0.0/24",
    "--endpoint-reconciler-type=none", // a loopback address is no endpoint that it would accept
    ...(layout.auditLog
      ? [
          `--audit-policy-file=${file("auditPolicy")}`,
          `--audit-log-path=${file("auditLog")}`,
          "--audit-log-maxsize=4096", // MiB; from the default of 100 on, what came first would be in another file
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
    "--secure-port=0", // serves nothing, so needs no port
  ];
}
