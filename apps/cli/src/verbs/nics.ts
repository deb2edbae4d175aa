// SPDX-License-Identifier: Apache-2.0
/** `switchyard nics` lists the supported NICs or, with objects of a cluster, the NICs of its nodes and what they offer to AF_XDP. */
import { supportedNics } from "@switchyard/policy";
import { collectObjects } from "../cluster/cluster-objects.ts";
import { createDiagnostics, exitCodes } from "../terminal.ts";
import { isLive, readInput } from "../input/read-input.ts";
import { nodeNics, nodeNicsText } from "../output/node-nics.ts";
import { printData } from "../output/to-yaml.ts";
import { table } from "../text.ts";
import type { RunVerb } from "../verb.ts";

export const nics: RunVerb = async (call) => {
  const { flags, terminal } = call;
  return flags.filename.length > 0 || isLive(flags) ? await listNodeNics(call) : listSupported(flags.output, terminal);
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

async function listNodeNics({ flags, terminal }: Call) {
  const { namespace, node, output = "text" } = flags;
  const diagnostics = createDiagnostics(terminal.stderr);
  const manifests = await readInput(flags, terminal, diagnostics);
  const cluster = collectObjects(manifests, { namespace, diagnostics, isIgnoredNoted: false });
  const rows = nodeNics(cluster.afxdp.states).filter((row) => node === undefined || row.node === node);
  if (output === "text") terminal.stdout.write(nodeNicsText(rows));
  else printData({ nics: rows }, output, terminal.stdout);
  return diagnostics.exitCode();
}
