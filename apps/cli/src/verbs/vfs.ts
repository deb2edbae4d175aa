// SPDX-License-Identifier: Apache-2.0
/** `switchyard vfs` lists VFs with their settings and the pods that have them. */
import { collectObjects } from "../cluster/cluster-objects.ts";
import { isWanted, listVfs } from "../diagnosis/list-vfs.ts";
import { createSnapshot, type Snapshot } from "../diagnosis/snapshot.ts";
import { createDiagnostics, type Diagnostics, type Terminal } from "../terminal.ts";
import type { Flags } from "../flags.ts";
import { withCurrentContext } from "../input/current-context.ts";
import { readPlacedSnapshot } from "../input/operator-namespace.ts";
import { printData } from "../output/to-yaml.ts";
import { vfsText } from "../output/vfs-text.ts";
import type { RunVerb } from "../verb.ts";

export const vfs: RunVerb = async ({ flags: given, terminal }) => {
  const diagnostics = createDiagnostics(terminal.stderr);
  const flags = await withCurrentContext(given, terminal, diagnostics);
  const { rowsOutput: output = "text" } = flags;
  if (flags.watch) {
    const { watchVfs } = await import("./watch-vfs.ts");
    return watchVfs(flags, terminal, diagnostics);
  }
  const snapshot = await readVfSnapshot(flags, terminal, diagnostics);
  const rows = listVfs(snapshot).filter((row) => isWanted(row, flags));
  if (output === "html") {
    const { makePage } = await import("../report/build-report.ts");
    terminal.stdout.write(makePage(snapshot, { command: "vfs", rows }));
  } else if (output === "text" || output === "wide") {
    terminal.stdout.write(vfsText(rows, { isWide: output === "wide" }));
  } else {
    printData({ vfs: rows }, output, terminal.stdout);
  }
  return diagnostics.exitCode();
};

async function readVfSnapshot(flags: Flags, terminal: Terminal, diagnostics: Diagnostics): Promise<Snapshot> {
  const { resourcePrefix } = flags;
  const { manifests, readKinds, namespace } = await readPlacedSnapshot(flags, terminal, diagnostics);
  const cluster = collectObjects(manifests, { namespace, diagnostics, isIgnoredNoted: false });
  return createSnapshot(manifests, cluster, { namespace, resourcePrefix, readKinds });
}
