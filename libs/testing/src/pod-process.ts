// SPDX-License-Identifier: Apache-2.0
/**
 * A program of this machine as a pod has it: no kubeconfig, and the files and variables of a service account, which only its
 * own view of the file system has (a mount namespace).
 * Usage: `const { file, args } = podCommand(await cluster.podAccount(namespace, "webhook"), [process.execPath, main]);`
 */
import { spawnSync } from "node:child_process";

/** What a pod knows of the API server and of itself. */
export interface PodAccount {
  /** "https://127.0.0.1:6443" */
  readonly server: string;
  /** PEM certificate of the authority that signed the server's. */
  readonly authority: string;
  readonly token: string;
  readonly namespace: string;
}

/** Why no program can be started like this here, for the name of a skipped test; undefined if it can. */
export function missingForPods(): string | undefined {
  const probe = spawnSync("unshare", [...ownMounts(), "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { encoding: "utf8" });
  const reason = probe.error?.message ?? (probe.status === 0 ? undefined : probe.stderr.trim());
  if (reason !== undefined) console.error(`SKIPPED, no mount namespace can be made: ${reason}`);
  return reason;
}

/** The command that becomes `program`, without a process between. */
export function podCommand(
  { server, authority, token, namespace }: PodAccount,
  program: readonly string[],
): { readonly file: string; readonly args: readonly string[] } {
  const { hostname, port } = new URL(server);
  const variables = [`KUBERNETES_SERVICE_HOST=${hostname}`, `KUBERNETES_SERVICE_PORT=${port}`];
  const becomePod = ["unshare", ...ownMounts(), "sh", "-c", mountAccount, "pod", token, authority, namespace];
  return { file: "/usr/bin/env", args: ["-u", "KUBECONFIG", ...variables, ...becomePod, ...program] };
}

/** Flags of unshare. Others than root may mount as the root of a user namespace. */
function ownMounts(): readonly string[] {
  return [...(process.getuid?.() === 0 ? [] : ["--map-root-user"]), "--mount"];
}

const mountAccount = `set -e
mount -t tmpfs tmpfs "$(readlink -f /var/run)"
directory=/var/run/secrets/kubernetes.io/serviceaccount
mkdir -p $directory
printf %s "$1" >$directory/token
printf %s "$2" >$directory/ca.crt
printf %s "$3" >$directory/namespace
shift 3
exec "$@"`;
