// SPDX-License-Identifier: Apache-2.0
/** Parses the command line of `npm run bench -- afxdp`. */
import { commonHelp, parseCount, parseFlags } from "../harness/bench-flags.ts";
import type { BenchOptions } from "../harness/bench.ts";

/** The options of the benchmark. */
export interface AfxdpOptions extends BenchOptions {
  readonly nodes: number;
  /** Number of connections of the plain client. */
  readonly connections: number;
  /** How often the policy is created, changed and deleted. */
  readonly rounds: number;
}

export const afxdpHelp = `npm run bench -- afxdp [options]

Measures the operator with a real API server and a simulated fleet whose nodes have AF_XDP devices. The baseline is a plain
client that writes the same node states in the same run.
  --nodes N            number of nodes (default 1000)
  --connections N      connections of the plain client, 1 to 64 (default 32)
  --rounds N           how often the policy is created, changed and deleted (default 3)
${commonHelp}`;

/** Parses the command line; "help" for --help. Throws BenchError `usage`. */
export function parseAfxdpOptions(args: readonly string[]): AfxdpOptions | "help" {
  const values = parseFlags(args, {
    nodes: { type: "string", default: "1000" },
    connections: { type: "string", default: "32" },
    rounds: { type: "string", default: "3" },
  });
  if (values.help === true) return "help";
  return {
    nodes: parseCount("--nodes", values.nodes, { minimum: 1, maximum: 65_536 }),
    connections: parseCount("--connections", values.connections, { minimum: 1, maximum: 64 }),
    rounds: parseCount("--rounds", values.rounds, { minimum: 1, maximum: 10 }),
    json: values.json,
    check: values.check === true,
  };
}
