// SPDX-License-Identifier: Apache-2.0
/**
 * podCommand starts a program of this machine like in a pod: without a kubeconfig, and with the files and variables of a
 * service account. The files exist only in the mount namespace of the program.
 * Usage: `const { file, args } = podCommand(await cluster.podAccount(namespace, "webhook"), [process.execPath, main]);`
 */
import { spawnSync } from "node:child_process";

/** The API server and the service account of a pod. */
export interface PodAccount {
  /** "https://127.0.0.1:6443" */
  readonly server: string;
  /** CA certificate of the server in PEM format. */
  readonly authority: string;
  readonly token: string;
  readonly namespace: string;
}

/** Returns why this machine cannot create a mount namespace, for the name of a skipped test, or undefined if it can. */
export function missingForPods(): string | undefined {
  const probe = spawnSync("unshare", [...ownMounts(), "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { encoding: "utf8" });
  const reason = probe.error?.message ?? (probe.status === 0 ? undefined : probe.stderr.trim());
  if (reason !== undefined) console.error(`SKIPPED: cannot create a mount namespace: ${reason}`);
  return reason;
}

/** Returns the command, which replaces itself by `program`. */
export function podCommand(
  { server, authority, token, namespace }: PodAccount,
  program: readonly string[],
): { readonly file: string; readonly args: readonly string[] } {
  const { hostname, port } = new URL(server);
  const variables = [`KUBERNETES_SERVICE_HOST=${hostname}`, `KUBERNETES_SERVICE_PORT=${port}`];
  const becomePod = ["unshare", ...ownMounts(), "sh", "-c", mountAccount, "pod", token, authority, namespace];
  return { file: "/usr/bin/env", args: ["-u", "KUBECONFIG", ...variables, ...becomePod, ...program] };
}

/** Flags of unshare. Users other than root can mount as root of a user namespace. */
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
