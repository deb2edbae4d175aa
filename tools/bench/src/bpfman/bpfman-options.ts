// SPDX-License-Identifier: Apache-2.0
/** Parses the command line of `npm run bench -- bpfman`. */
import { commonHelp, parseCount, parseFlags } from "../harness/bench-flags.ts";
import type { BenchOptions } from "../harness/bench.ts";

/** The options of the benchmark. */
export interface BpfmanOptions extends BenchOptions {
  readonly nodes: number;
  /** Number of connections of the plain client. */
  readonly connections: number;
}

export const bpfmanHelp = `npm run bench -- bpfman [options]

Measures the operator with a real API server and a simulated fleet whose AF_XDP programs bpfman loads. The baseline is a plain
client that writes the same objects in the same run.
  --nodes N            number of nodes, each with two devices (default 1000)
  --connections N      connections of the plain client, 1 to 64 (default 32)
${commonHelp}`;

/** Parses the command line; "help" for --help. Throws BenchError `usage`. */
export function parseBpfmanOptions(args: readonly string[]): BpfmanOptions | "help" {
  const values = parseFlags(args, {
    nodes: { type: "string", default: "1000" },
    connections: { type: "string", default: "32" },
  });
  if (values.help === true) return "help";
  return {
    nodes: parseCount("--nodes", values.nodes, { minimum: 1, maximum: 65_536 }),
    connections: parseCount("--connections", values.connections, { minimum: 1, maximum: 64 }),
    json: values.json,
    check: values.check === true,
  };
}
