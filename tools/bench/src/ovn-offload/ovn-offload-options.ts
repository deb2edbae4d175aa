// SPDX-License-Identifier: Apache-2.0
/** Parses the command line of `npm run bench -- ovn-offload`. */
import { BenchError } from "../harness/run-control.ts";
import { commonHelp, parseCount, parseFlags } from "../harness/bench-flags.ts";
import type { BenchOptions } from "../harness/bench.ts";

/** The options of the benchmark. */
export interface OvnOffloadOptions extends BenchOptions {
  /** Number of hosts, which are spread over the pools. */
  readonly nodes: number;
  readonly pools: number;
  /** Number of connections of the plain client. */
  readonly connections: number;
  /** How often all pools are selected and restored. After the first round all code is compiled and warm. */
  readonly rounds: number;
  /** Path of a directory for a CPU profile of ovn-offload. */
  readonly cpuProf: string | undefined;
}

export const ovnOffloadHelp = `npm run bench -- ovn-offload [options]

Measures the service ovn-offload with a real API server, OpenShift's CRDs and simulated hosts, which have one
BlueField-2 card each. The baseline is a plain client that repeats the same writes in the same run.
  --nodes N            number of hosts (default 1000)
  --pools N            number of MachineConfigPools, 1 to 64 (default 20, at most one for each host)
  --connections N      connections of the plain client, 1 to 64 (default 32)
  --rounds N           how often all pools are selected and restored (default 3)
  --cpu-prof DIR       write a CPU profile of ovn-offload to DIR
${commonHelp}`;

/** Parses the command line; "help" for --help. Throws BenchError `usage`. */
export function parseOvnOffloadOptions(args: readonly string[]): OvnOffloadOptions | "help" {
  const values = parseFlags(args, {
    nodes: { type: "string", default: "1000" },
    pools: { type: "string" },
    connections: { type: "string", default: "32" },
    rounds: { type: "string", default: "3" },
    "cpu-prof": { type: "string" },
  });
  if (values.help === true) return "help";
  const nodes = parseCount("--nodes", values.nodes, { minimum: 1, maximum: 65_536 });
  const pools = parseCount("--pools", values.pools ?? String(Math.min(20, nodes)), { minimum: 1, maximum: 64 });
  if (pools > nodes) throw new BenchError("usage", `--pools must not exceed --nodes (${nodes}), but is ${pools}`);
  return {
    nodes,
    pools,
    connections: parseCount("--connections", values.connections, { minimum: 1, maximum: 64 }),
    rounds: parseCount("--rounds", values.rounds, { minimum: 1, maximum: 10 }),
    json: values.json,
    cpuProf: values["cpu-prof"],
    check: values.check === true,
  };
}
