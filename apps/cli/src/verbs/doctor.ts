// SPDX-License-Identifier: Apache-2.0
/** `switchyard doctor` finds what is wrong in a cluster. */
import { diagnose } from "../diagnosis/diagnose.ts";
import { listVfs } from "../diagnosis/list-vfs.ts";
import { clusterText, type ClusterName } from "../diagnosis/snapshot.ts";
import { planOffloadedWithPods } from "../ovn-offload/plan-offloaded.ts";
import { doctorText } from "../output/doctor-text.ts";
import { printData } from "../output/to-yaml.ts";
import { textStyleOf, createDiagnostics, exitCodes, silentDiagnostics } from "../terminal.ts";
import { printable } from "../text.ts";
import type { RunVerb } from "../verb.ts";
import { readExaminedCluster } from "./examined-cluster.ts";

export const doctor: RunVerb = async ({ flags: given, terminal }) => {
  const diagnostics = createDiagnostics(terminal.stderr);
  const { snapshot, flags } = await readExaminedCluster(given, terminal, diagnostics);
  const { pageOutput: output = "text" } = flags;
  const diagnosis = diagnose(snapshot);
  if (output === "text") {
    if (snapshot.source !== undefined) terminal.stdout.write(`${examined(snapshot.source, flags.namespace)}\n\n`);
    terminal.stdout.write(doctorText(diagnosis, textStyleOf(terminal.stdout, terminal.env)));
  } else if (output === "html") {
    const { makePage } = await import("../report/build-report.ts");
    // What a plan cannot do is a finding already.
    const plans = planOffloadedWithPods(snapshot.cluster, flags, silentDiagnostics);
    terminal.stdout.write(makePage(snapshot, { command: "doctor", rows: listVfs(snapshot), diagnosis, plans }));
  } else {
    printData(diagnosis, output, terminal.stdout);
  }
  return diagnosis.healthy ? diagnostics.exitCode() : exitCodes.no;
};

function examined(source: ClusterName, namespace: string): string {
  return printable(`Examined: ${clusterText(source)}, namespace ${namespace}`);
}
