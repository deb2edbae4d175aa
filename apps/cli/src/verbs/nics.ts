// SPDX-License-Identifier: Apache-2.0
/** `switchyard nics` lists the NICs that nodes have reported or, without a cluster, the supported NICs. */
import { supportedNics } from "@switchyard/policy";
import { collectObjects } from "../cluster/cluster-objects.ts";
import { withCurrentContext } from "../input/current-context.ts";
import { isLive, readInput } from "../input/read-input.ts";
import { nodeNics, nodeNicsText } from "../output/node-nics.ts";
import { printData } from "../output/to-yaml.ts";
import { createDiagnostics, exitCodes } from "../terminal.ts";
import { table } from "../text.ts";
import type { RunVerb } from "../verb.ts";

export const nics: RunVerb = async ({ flags: given, terminal }) => {
  if (given.supported) return listSupported(given.output, terminal);
  const diagnostics = createDiagnostics(terminal.stderr);
  const flags = await withCurrentContext(given, terminal, diagnostics);
  if (flags.filename.length === 0 && !isLive(flags)) return listSupported(flags.output, terminal);
  const { namespace, node, output = "text" } = flags;
  const manifests = await readInput(flags, terminal, diagnostics);
  const { states, afxdp } = collectObjects(manifests, { namespace, diagnostics, isIgnoredNoted: false });
  const rows = nodeNics({ sriov: states, afxdp: afxdp.states }).filter(
    (row) => node === undefined || row.node === node,
  );
  if (output === "text") terminal.stdout.write(nodeNicsText(rows));
  else printData({ nics: rows }, output, terminal.stdout);
  return diagnostics.exitCode();
};

type Call = Parameters<RunVerb>[0];

function listSupported(output: Call["flags"]["output"], { stdout }: Call["terminal"]) {
  if (output === undefined || output === "text") {
    const rows = supportedNics.map(({ vendor, pf, vf, name }) => [vendor, pf, vf, name]);
    stdout.write(table([["VENDOR", "DEVICE", "VF DEVICE", "CARD"], ...rows]));
  } else {
    const entries = supportedNics.map(({ vendor, pf, vf, name }) => ({ vendor, deviceID: pf, vfDeviceID: vf, name }));
    printData(entries, output, stdout);
  }
  return exitCodes.done;
}
