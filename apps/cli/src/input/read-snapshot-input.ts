// SPDX-License-Identifier: Apache-2.0
/**
 * readSnapshotInput reads all that switchyard doctor and vfs use of a cluster, from files or from the cluster itself.
 * Usage: `const { manifests, readKinds } = await readSnapshotInput(flags, terminal, diagnostics)`.
 */
import { CliError } from "../cli-error.ts";
import type { Diagnostics } from "../diagnostics.ts";
import type { Flags } from "../flags.ts";
import type { Terminal } from "../terminal.ts";
import { readInput } from "./read-input.ts";
import type { SnapshotInput } from "./read-snapshot.ts";

/** Throws CliError "usage" if no input is given, and "unavailable" if it has no objects or the cluster cannot be reached. */
export async function readSnapshotInput(
  flags: Flags,
  terminal: Terminal,
  diagnostics: Diagnostics,
): Promise<SnapshotInput> {
  const { context, kubeconfig, namespace } = flags;
  const isLive = context !== undefined || kubeconfig !== undefined;
  if (isLive && flags.filename.length === 0) {
    const { readSnapshot } = await import("./read-snapshot.ts");
    return readSnapshot({ context, kubeconfig, namespace, env: terminal.env }, diagnostics);
  }
  const manifests = await readInput(flags, terminal, diagnostics);
  if (manifests.length === 0) throw new CliError("unavailable", "the input has no objects");
  return { manifests, readKinds: [] };
}
