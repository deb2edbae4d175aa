// SPDX-License-Identifier: Apache-2.0
/** `switchyard vfs` lists VFs with their settings and the pods that have them. */
import { isWanted, listVfs } from "../diagnosis/list-vfs.ts";
import { withCurrentContext } from "../input/current-context.ts";
import { printData } from "../output/to-yaml.ts";
import { vfsText } from "../output/vfs-text.ts";
import { createDiagnostics } from "../terminal.ts";
import type { RunVerb } from "../verb.ts";
import { readExaminedCluster } from "./examined-cluster.ts";

export const vfs: RunVerb = async ({ flags: given, terminal }) => {
  const diagnostics = createDiagnostics(terminal.stderr);
  if (given.watch) {
    const { watchVfs } = await import("./watch-vfs.ts");
    return watchVfs(await withCurrentContext(given, terminal, diagnostics), terminal, diagnostics);
  }
  const { snapshot, flags } = await readExaminedCluster(given, terminal, diagnostics);
  const { rowsOutput: output = "text" } = flags;
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
