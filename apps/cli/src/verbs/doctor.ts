// SPDX-License-Identifier: Apache-2.0
/** `switchyard doctor` finds what is wrong in a cluster. */
import { collectObjects } from "../cluster/cluster-objects.ts";
import { diagnose } from "../diagnosis/diagnose.ts";
import { listVfs } from "../diagnosis/list-vfs.ts";
import { createSnapshot, type RefusedObject } from "../diagnosis/snapshot.ts";
import { createColours, createDiagnostics, exitCodes, silentDiagnostics } from "../terminal.ts";
import { withCurrentContext } from "../input/current-context.ts";
import { readPlacedSnapshot } from "../input/operator-namespace.ts";
import { planOffloadedWithPods } from "../ovn-offload/plan-offloaded.ts";
import { doctorText } from "../output/doctor-text.ts";
import { printData } from "../output/to-yaml.ts";
import type { RunVerb } from "../verb.ts";

export const doctor: RunVerb = async ({ flags: given, terminal }) => {
  const diagnostics = createDiagnostics(terminal.stderr);
  const flags = await withCurrentContext(given, terminal, diagnostics);
  const { resourcePrefix, pageOutput: output = "text" } = flags;
  const { manifests, readKinds, nowMs, namespace } = await readPlacedSnapshot(flags, terminal, diagnostics);
  const refused: RefusedObject[] = [];
  const cluster = collectObjects(manifests, {
    namespace,
    diagnostics,
    isIgnoredNoted: false,
    onRefused: (manifest, problem) => refused.push({ manifest, problem }),
  });
  const snapshot = createSnapshot(manifests, cluster, { namespace, resourcePrefix, readKinds, nowMs, refused });
  const diagnosis = diagnose(snapshot);
  if (output === "text") {
    terminal.stdout.write(doctorText(diagnosis, createColours(terminal.stdout, terminal.env)));
  } else if (output === "html") {
    const { makePage } = await import("../report/build-report.ts");
    // What a plan cannot do is a finding already.
    const plans = planOffloadedWithPods(cluster, { ...flags, namespace }, silentDiagnostics);
    terminal.stdout.write(makePage(snapshot, { command: "doctor", rows: listVfs(snapshot), diagnosis, plans }));
  } else {
    printData(diagnosis, output, terminal.stdout);
  }
  return diagnosis.healthy ? diagnostics.exitCode() : exitCodes.no;
};
