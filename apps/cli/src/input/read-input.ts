// SPDX-License-Identifier: Apache-2.0
/** readInput reads the objects that a command works on, from files or from a cluster. */
import type { PlacedPods } from "../cluster/evicted-pods.ts";
import type { Flags } from "../flags.ts";
import type { Manifest } from "../json.ts";
import { CliError, type Diagnostics, type Terminal } from "../terminal.ts";
import type { SnapshotInput } from "./read-cluster.ts";
import { readFiles } from "./read-files.ts";

/**
 * Reads the cluster of --context and --kubeconfig, then -f: what is given last counts, so files show what they would change. Throws
 * CliError "usage" if neither is given.
 */
export async function readInput(
  flags: Flags,
  terminal: Terminal,
  diagnostics: Diagnostics,
): Promise<readonly Manifest[]> {
  if (flags.filename.length === 0 && !isLive(flags))
    throw new CliError("usage", "no input: use -f FILE, --context NAME or --kubeconfig FILE");
  const live = isLive(flags) ? await readLive(flags, terminal) : [];
  return [...live, ...(await readPaths(flags.filename, terminal, diagnostics))];
}

/** Whether the flags name a cluster. */
export function isLive({ context, kubeconfig }: Flags): boolean {
  return context !== undefined || kubeconfig !== undefined;
}

/** Reads files. Files that cannot be read are reported and skipped. */
export async function readPaths(
  paths: readonly string[],
  terminal: Terminal,
  diagnostics: Diagnostics,
): Promise<readonly Manifest[]> {
  const { manifests, problems } = await readFiles(paths, terminal.stdin);
  for (const problem of problems) diagnostics.report(problem);
  return manifests;
}

/** Reads the cluster of --context and --kubeconfig. */
export async function readLive(flags: Flags, terminal: Terminal): Promise<readonly Manifest[]> {
  const { readCluster } = await import("./read-cluster.ts");
  const { context, kubeconfig, namespace, claims: hasClaims } = flags;
  return readCluster({ context, kubeconfig, namespace, env: terminal.env }, { hasClaims });
}

/** Reads the pods of these nodes (readPodsOn). Returns undefined if the user may not list pods. */
export async function readLivePodsOn(
  { context, kubeconfig, resourcePrefix }: Flags,
  terminal: Terminal,
  nodes: ReadonlyMap<string, boolean>,
): Promise<PlacedPods | undefined> {
  const { readPodsOn } = await import("./read-pods.ts");
  return readPodsOn({ context, kubeconfig, env: terminal.env }, { resourcePrefix, nodes });
}

/** Reads the pods with VFs of that cluster. Returns undefined if the user may not list pods. */
export async function readLivePods(flags: Flags, terminal: Terminal): Promise<readonly Manifest[] | undefined> {
  const { readPods } = await import("./read-pods.ts");
  const { context, kubeconfig, resourcePrefix } = flags;
  return readPods({ context, kubeconfig, env: terminal.env }, resourcePrefix);
}

/**
 * readSnapshotInput reads all that switchyard doctor and vfs use of a cluster, from files or from the cluster itself.
 * Throws CliError "usage" if no input is given, and "unavailable" if it has no objects or the cluster cannot be reached.
 */
export async function readSnapshotInput(
  flags: Flags,
  terminal: Terminal,
  diagnostics: Diagnostics,
): Promise<SnapshotInput> {
  const { context, kubeconfig, namespace } = flags;
  if (isLive(flags) && flags.filename.length > 0) {
    throw new CliError("usage", "use either -f, or --context and --kubeconfig: a diagnosis is that of one cluster");
  }
  if (isLive(flags)) {
    const { readSnapshot } = await import("./read-cluster.ts");
    return readSnapshot({ context, kubeconfig, namespace, env: terminal.env }, diagnostics);
  }
  const manifests = await readInput(flags, terminal, diagnostics);
  if (manifests.length === 0) throw new CliError("unavailable", "the input has no objects");
  return { manifests, readKinds: [] };
}
