// SPDX-License-Identifier: Apache-2.0
/** Parses the command line of `npm run bench -- fleet`. */
import { BenchError } from "../harness/run-control.ts";
import { commonHelp, parseCount, parseFlags } from "../harness/bench-flags.ts";
import type { BenchOptions } from "../harness/bench.ts";
import { mostPolicies } from "./fleet-objects.ts";
import { profileNames, profiles, type ProfileName } from "./fleet-profile.ts";

/** The options of the benchmark. */
export interface FleetOptions extends BenchOptions {
  readonly nodes: number;
  readonly policies: number;
  readonly profile: ProfileName;
  /** Number of connections of the plain client. */
  readonly connections: number;
  /** How often node states and policies are created and deleted. After the first round all code is compiled and warm. */
  readonly rounds: number;
  /** Number of nodes that request a drain at the same time at the end; 0 skips that part. */
  readonly drains: number;
  /** Whether the operator also writes upstream's ConfigMap. */
  readonly writeConfigMap: boolean;
  /** Path of a directory for a CPU profile of the operator. */
  readonly cpuProf: string | undefined;
}

export const fleetHelp = `npm run bench -- fleet [options]

Measures the operator with a real API server and simulated nodes. The baseline is a plain client that makes the same
writes in the same run.
  --nodes N            number of nodes (default 1000)
  --policies N         number of policies (default 10)
  --profile NAME       ${profileNames.join(" or ")}: 6 PFs without VFs (default), or 2 PFs with 128 VFs each
  --connections N      connections of the plain client, 1 to 64 (default 32)
  --rounds N           how often node states and policies are created and deleted (default 3)
  --drains N           number of nodes that request a drain at the same time, in a pool with maxUnavailable 10%
                       (default 100, at most all nodes)
  --write-configmap    let the operator also write upstream's ConfigMap
  --cpu-prof DIR       write a CPU profile of the operator to DIR
${commonHelp}`;

/** Parses the command line; "help" for --help. Throws BenchError `usage`. */
export function parseFleetOptions(args: readonly string[]): FleetOptions | "help" {
  const values = parseFlags(args, {
    nodes: { type: "string", default: "1000" },
    policies: { type: "string", default: "10" },
    profile: { type: "string", default: "pf6" },
    connections: { type: "string", default: "32" },
    rounds: { type: "string", default: "3" },
    drains: { type: "string", default: "100" },
    "write-configmap": { type: "boolean" },
    "cpu-prof": { type: "string" },
  });
  if (values.help === true) return "help";
  const profile = profileNames.find((name) => name === values.profile);
  if (profile === undefined) {
    throw new BenchError("usage", `--profile must be ${profileNames.join(" or ")}, not "${values.profile}"`);
  }
  const nodes = parseCount("--nodes", values.nodes, { minimum: 1, maximum: 65_536 });
  return {
    nodes,
    policies: parseCount("--policies", values.policies, { minimum: 1, maximum: mostPolicies(profiles[profile]) }),
    profile,
    connections: parseCount("--connections", values.connections, { minimum: 1, maximum: 64 }),
    rounds: parseCount("--rounds", values.rounds, { minimum: 1, maximum: 10 }),
    drains: Math.min(nodes, parseCount("--drains", values.drains, { minimum: 0, maximum: 65_536 })),
    writeConfigMap: values["write-configmap"] === true,
    json: values.json,
    cpuProf: values["cpu-prof"],
    check: values.check === true,
  };
}
