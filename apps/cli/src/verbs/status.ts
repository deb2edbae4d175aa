// SPDX-License-Identifier: Apache-2.0
/** `switchyard status` sums up a cluster on one screen. */
import { diagnose } from "../diagnosis/diagnose.ts";
import { statusText } from "../output/status-text.ts";
import { printData } from "../output/to-yaml.ts";
import { clusterStatus } from "../status/cluster-status.ts";
import { textStyleOf, createDiagnostics, exitCodes } from "../terminal.ts";
import type { RunVerb } from "../verb.ts";
import { readExaminedCluster } from "./examined-cluster.ts";

export const status: RunVerb = async ({ flags, terminal }) => {
  const diagnostics = createDiagnostics(terminal.stderr);
  const { snapshot } = await readExaminedCluster(flags, terminal, diagnostics);
  const { output = "text" } = flags;
  const found = clusterStatus(snapshot, diagnose(snapshot));
  if (output === "text") terminal.stdout.write(statusText(found, textStyleOf(terminal.stdout, terminal.env)));
  else printData(found, output, terminal.stdout);
  return found.findings.errors > 0 ? exitCodes.no : diagnostics.exitCode();
};
