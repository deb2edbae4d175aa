// SPDX-License-Identifier: Apache-2.0
/** readSnapshot reads the cluster that a verb examines: that of the flags, or that of the user's current context. */
import { collectObjects } from "../cluster/cluster-objects.ts";
import { createSnapshot, type RefusedObject, type Snapshot } from "../diagnosis/snapshot.ts";
import type { Flags } from "../flags.ts";
import { withCurrentContext } from "../input/current-context.ts";
import { readPlacedSnapshot } from "../input/operator-namespace.ts";
import type { Diagnostics, Terminal } from "../terminal.ts";

export interface ReadSnapshot {
  readonly snapshot: Snapshot;
  /** The flags, with the context and the namespace that were found. */
  readonly flags: Flags;
}

/** Objects that the API server would refuse are in `snapshot.refused`. Throws CliError "unavailable". */
export async function readSnapshot(given: Flags, terminal: Terminal, diagnostics: Diagnostics): Promise<ReadSnapshot> {
  const flags = await withCurrentContext(given, terminal, diagnostics);
  const { resourcePrefix } = flags;
  const { manifests, readKinds, nowMs, namespace } = await readPlacedSnapshot(flags, terminal, diagnostics);
  const refused: RefusedObject[] = [];
  const cluster = collectObjects(manifests, {
    namespace,
    diagnostics,
    isIgnoredNoted: false,
    onRefused: (manifest, problem) => refused.push({ manifest, problem }),
  });
  const snapshot = createSnapshot(manifests, cluster, { namespace, resourcePrefix, readKinds, nowMs, refused });
  return { snapshot, flags: { ...flags, namespace } };
}
