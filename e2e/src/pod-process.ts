// SPDX-License-Identifier: Apache-2.0
/**
 * A program of this machine as a pod has it: no kubeconfig, and the files and variables of a service account in its own view
 * of the file system.
 * Usage: `const { file, args } = await podCommand(cluster, { namespace, serviceAccount }, [process.execPath, main]);`
 */
import { KubeConfig } from "@kubernetes/client-node";
import type { ControlPlane } from "@switchyard/testing";
import { spawnSync } from "node:child_process";

export interface PodAccount {
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** Why there can be no pod process here, for the name of the skipped test; undefined if there can. */
export function missingForPods(): string | undefined {
  const probe = spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { encoding: "utf8" });
  const reason = probe.error?.message ?? (probe.status === 0 ? undefined : probe.stderr.trim());
  if (reason !== undefined) console.error(`SKIPPED, no mount namespace can be made: ${reason}`);
  return reason;
}

/** Starts `program` with a new token of the service account, which must exist. */
export async function podCommand(
  cluster: ControlPlane,
  { namespace, serviceAccount }: PodAccount,
  program: readonly string[],
): Promise<{ readonly file: string; readonly args: readonly string[] }> {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(cluster.kubeconfig);
  const authority = Buffer.from(kubeConfig.getCurrentCluster()?.caData ?? "", "base64").toString();
  const token = await cluster.kubectl(["create", "token", serviceAccount, "-n", namespace]);
  const { hostname, port } = new URL(cluster.server);
  const variables = [`KUBERNETES_SERVICE_HOST=${hostname}`, `KUBERNETES_SERVICE_PORT=${port}`];
  const setUp = [
    "/usr/bin/env",
    "-u",
    "KUBECONFIG",
    ...variables,
    "unshare",
    "--mount",
    "sh",
    "-c",
    mountAccount,
    "pod",
  ];
  const [file = "", ...args] = [...setUp, token.trim(), authority, namespace, ...program];
  return { file, args };
}

const mountAccount = `set -e
mount -t tmpfs tmpfs "$(readlink -f /var/run)"
mkdir -p /var/run/secrets/kubernetes.io/serviceaccount
cd /var/run/secrets/kubernetes.io/serviceaccount
printf %s "$1" >token
printf %s "$2" >ca.crt
printf %s "$3" >namespace
cd /
shift 3
exec "$@"`;
