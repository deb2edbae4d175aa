// SPDX-License-Identifier: Apache-2.0
/** `switchyard vfs --watch` prints all VFs of a cluster and then those that change, until the process ends. */
import { CliError, type Diagnostics, type Terminal } from "../terminal.ts";
import { collectObjects } from "../cluster/cluster-objects.ts";
import { isWanted, listVfs, vfChanges, type VfRow } from "../diagnosis/list-vfs.ts";
import { createSnapshot } from "../diagnosis/snapshot.ts";
import type { Flags } from "../flags.ts";
import { readSnapshotInput } from "../input/read-input.ts";
import { watchedKinds, watchSnapshot } from "../input/watch-snapshot.ts";
import { vfChangesText } from "../output/vfs-text.ts";

/** Throws CliError "usage" for flags that have no meaning with --watch, and "unavailable" if the cluster cannot be reached. */
export async function watchVfs(flags: Flags, terminal: Terminal, diagnostics: Diagnostics): Promise<never> {
  const { context, kubeconfig, namespace, resourcePrefix, rowsOutput: output = "text" } = flags;
  if (flags.filename.length > 0 || (context === undefined && kubeconfig === undefined)) {
    throw new CliError("usage", "--watch needs a cluster: --context or --kubeconfig");
  }
  if (output === "html" || output === "yaml") {
    throw new CliError("usage", `--watch prints text, wide or json, not ${output}`);
  }
  const source = { context, kubeconfig, namespace, env: terminal.env };
  const { manifests, readKinds } = await readSnapshotInput(flags, terminal, diagnostics);
  // Policies and pools do not change what is listed of a VF, so they are read once.
  const others = manifests.filter(({ kind }) => !watchedKinds.has(kind));
  let before: readonly VfRow[] | undefined;
  for await (const current of watchSnapshot(source, { readKinds, diagnostics })) {
    const all = [...others, ...current];
    const cluster = collectObjects(all, { namespace, diagnostics, isIgnoredNoted: false });
    const snapshot = createSnapshot(all, cluster, { namespace, resourcePrefix, readKinds });
    const rows = listVfs(snapshot).filter((row) => isWanted(row, flags));
    const changes = vfChanges(before ?? [], rows);
    const isFirst = before === undefined;
    before = rows;
    if (output === "json") for (const change of changes) terminal.stdout.write(`${JSON.stringify(change)}\n`);
    else if (changes.length > 0 || isFirst) {
      terminal.stdout.write(vfChangesText(changes, { isWide: output === "wide", isFirst }));
    }
  }
  throw new Error("a watch ends with the process only");
}
