// SPDX-License-Identifier: Apache-2.0
/**
 * The objects that a command works on, from wherever the flags say.
 * Usage: `const manifests = await readInput(flags, terminal, diagnostics)`.
 */
import { CliError } from "../cli-error.ts";
import type { Diagnostics } from "../diagnostics.ts";
import type { Flags } from "../flags.ts";
import type { Terminal } from "../terminal.ts";
import type { Manifest } from "./manifest.ts";
import { readFiles } from "./read-files.ts";

/** From -f, or from the cluster of --context and --kubeconfig. Throws CliError where neither or both are given. */
export async function readInput(
  flags: Flags,
  terminal: Terminal,
  diagnostics: Diagnostics,
): Promise<readonly Manifest[]> {
  const isLive = flags.context !== undefined || flags.kubeconfig !== undefined;
  if (flags.filename.length > 0 && isLive) {
    throw new CliError("usage", "objects come from -f or from a cluster, not from both");
  }
  if (isLive) return readLive(flags, terminal);
  if (flags.filename.length === 0) throw new CliError("usage", "no input: give -f FILE, or --context NAME");
  return readGiven(flags.filename, terminal, diagnostics);
}

/** From files; what cannot be read is reported, and the rest goes on. */
export async function readGiven(
  paths: readonly string[],
  terminal: Terminal,
  diagnostics: Diagnostics,
): Promise<readonly Manifest[]> {
  const { manifests, problems } = await readFiles(paths, terminal.stdin);
  for (const problem of problems) diagnostics.report(problem);
  return manifests;
}

/** From the cluster of --context and --kubeconfig. */
export async function readLive(flags: Flags, terminal: Terminal): Promise<readonly Manifest[]> {
  const { readCluster } = await import("./read-cluster.ts");
  const { context, kubeconfig, namespace } = flags;
  return readCluster({ context, kubeconfig, namespace, env: terminal.env });
}

/** The pods with VFs of that cluster; undefined where the user may not list pods. */
export async function readLivePods(flags: Flags, terminal: Terminal): Promise<readonly Manifest[] | undefined> {
  const { readPods } = await import("./read-pods.ts");
  const { context, kubeconfig, resourcePrefix } = flags;
  return readPods({ context, kubeconfig, env: terminal.env }, resourcePrefix);
}
