// SPDX-License-Identifier: Apache-2.0
/** readExaminedCluster reads the cluster that a verb examines: that of the flags, or that of the user's current context. */
import { collectObjects } from "../cluster/cluster-objects.ts";
import { createSnapshot, type RefusedObject, type Snapshot } from "../diagnosis/snapshot.ts";
import type { Flags } from "../flags.ts";
import { withCurrentContext } from "../input/current-context.ts";
import { readPlacedSnapshot } from "../input/operator-namespace.ts";
import type { Diagnostics, Terminal } from "../terminal.ts";

export interface ExaminedCluster {
  readonly snapshot: Snapshot;
  /** The flags, with the context and the namespace that were found. */
  readonly flags: Flags;
}

/** Objects that the API server would refuse are in `snapshot.refused`. Throws CliError "unavailable". */
export async function readExaminedCluster(
  given: Flags,
  terminal: Terminal,
  diagnostics: Diagnostics,
): Promise<ExaminedCluster> {
  const flags = await withCurrentContext(given, terminal, diagnostics);
  const { resourcePrefix } = flags;
  const read = await readPlacedSnapshot(flags, terminal, diagnostics);
  const { manifests, readKinds, nowMs, kubernetesVersion, namespace, clusterName, server } = read;
  const refused: RefusedObject[] = [];
  const cluster = collectObjects(manifests, {
    namespace,
    diagnostics,
    isIgnoredNoted: false,
    onRefused: (manifest, problem) => refused.push({ manifest, problem }),
  });
  const source = clusterName === undefined ? undefined : { name: clusterName, server, version: kubernetesVersion };
  const options = { namespace, resourcePrefix, readKinds, nowMs, refused, source };
  const snapshot = createSnapshot(manifests, cluster, options);
  return { snapshot, flags: { ...flags, namespace } };
}
