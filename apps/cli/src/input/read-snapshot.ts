// SPDX-License-Identifier: Apache-2.0
/**
 * readSnapshot reads what switchyard doctor and vfs use of a live cluster. It writes nothing, and needs no right in particular:
 * kinds that are not served or that the user may not list are named and left out.
 * Usage: `const { manifests } = await readSnapshot({ context: "lab", namespace, env }, diagnostics)`.
 */
import { defined } from "@switchyard/api";
import { connect, isKubeError, type Transport } from "@switchyard/kube";
import { CliError } from "../cli-error.ts";
import type { Diagnostics } from "../diagnostics.ts";
import { daemonSets, listSnapshot } from "./list-snapshot.ts";
import type { Manifest } from "./manifest.ts";
import { kubeconfigOf, type ClusterSource } from "./read-cluster.ts";
import { readServerSecrets } from "./read-server-secrets.ts";

export interface SnapshotInput {
  readonly manifests: readonly Manifest[];
  /** The kinds that could be read from the cluster; empty for files. */
  readonly readKinds: readonly string[];
  /** The API server's clock after reading, in milliseconds since 1970; undefined for files. */
  readonly nowMs?: number;
}

/** Throws CliError "unavailable" if the cluster cannot be reached, or nothing can be read. */
export async function readSnapshot(source: ClusterSource, diagnostics: Diagnostics): Promise<SnapshotInput> {
  const { namespace, context, kubeconfig, env } = source;
  const origin = context ?? kubeconfig ?? "the cluster";
  try {
    await using transport = await connect({ kubeconfig: kubeconfigOf(source), context, env });
    const { manifests, readKinds, refused } = await listSnapshot(transport, { namespace, origin });
    const servers = manifests.filter(({ kind }) => kind === daemonSets.kind);
    const secrets = await readServerSecrets(transport, servers, origin);
    const missing = [...refused, ...secrets.refused.map((name) => `secret ${name} (not allowed)`)];
    if (missing.length > 0) diagnostics.note(`not read: ${missing.join(", ")}`);
    if (manifests.length === 0) throw new CliError("unavailable", "no object of the cluster can be read");
    const nowMs = await serverTimeMs(transport);
    return { manifests: [...manifests, ...secrets.manifests], readKinds, ...defined({ nowMs }) };
  } catch (cause) {
    if (!isKubeError(cause)) throw cause;
    throw new CliError("unavailable", cause.message, { cause });
  }
}

/** The clock of the API server: that of this machine may differ. Undefined if the server does not say. */
async function serverTimeMs(transport: Transport): Promise<number | undefined> {
  let nowMs: number | undefined;
  try {
    await transport.request({ method: "GET", path: "/version", onServerTime: (ms) => (nowMs = ms) });
  } catch (error) {
    if (!isKubeError(error)) throw error; // a refusal has the time, too
  }
  return nowMs;
}
