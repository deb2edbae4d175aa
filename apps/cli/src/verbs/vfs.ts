// SPDX-License-Identifier: Apache-2.0
/** `switchyard vfs` lists VFs with their settings and the pods that have them. */
import { collectObjects } from "../cluster/cluster-objects.ts";
import { listVfs, type VfRow } from "../diagnosis/list-vfs.ts";
import { createSnapshot } from "../diagnosis/snapshot.ts";
import { createDiagnostics, type Diagnostics } from "../diagnostics.ts";
import type { Flags } from "../flags.ts";
import { readSnapshotInput } from "../input/read-snapshot-input.ts";
import { printData } from "../output/print-data.ts";
import { vfsText } from "../output/vfs-text.ts";
import type { Terminal } from "../terminal.ts";
import type { RunVerb } from "../verb.ts";

export const vfs: RunVerb = async ({ flags, terminal }) => {
  const diagnostics = createDiagnostics(terminal.stderr);
  print(await readRows(flags, terminal, diagnostics), flags, terminal);
  return diagnostics.exitCode();
};

async function readRows(flags: Flags, terminal: Terminal, diagnostics: Diagnostics): Promise<readonly VfRow[]> {
  const { namespace, resourcePrefix } = flags;
  const { manifests, readKinds } = await readSnapshotInput(flags, terminal, diagnostics);
  const cluster = collectObjects(manifests, { namespace, diagnostics, isIgnoredNoted: false });
  return listVfs(createSnapshot(manifests, cluster, { namespace, resourcePrefix, readKinds })).filter((row) =>
    isWanted(row, flags),
  );
}

/** A pod is given as NAME or NAMESPACE/NAME; a resource with or without its prefix. */
function isWanted({ node, resource, pod, possiblePods = [] }: VfRow, flags: Flags): boolean {
  const pods = pod === undefined ? possiblePods : [pod];
  return (
    (flags.node === undefined || flags.node === node) &&
    (flags.resource === undefined || flags.resource.replace(`${flags.resourcePrefix}/`, "") === resource) &&
    (flags.pod === undefined || pods.some((name) => name === flags.pod || name.endsWith(`/${flags.pod ?? ""}`)))
  );
}

function print(rows: readonly VfRow[], { rowsOutput = "text" }: Flags, { stdout }: Terminal): void {
  if (rowsOutput === "text" || rowsOutput === "wide") stdout.write(vfsText(rows, { isWide: rowsOutput === "wide" }));
  else printData({ vfs: rows }, rowsOutput, stdout);
}
