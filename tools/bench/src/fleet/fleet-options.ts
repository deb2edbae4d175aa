// SPDX-License-Identifier: Apache-2.0
/**
 * The command line of `npm run bench -- fleet`.
 * Usage: `parseFleetOptions(["--nodes", "1000", "--check"])`
 */
import { parseArgs } from "node:util";
import { BenchError } from "../harness/bench-error.ts";
import { parseCount } from "../harness/parse-count.ts";
import { mostPolicies } from "./fleet-objects.ts";
import { profileNames, profiles, type ProfileName } from "./fleet-profile.ts";

export interface FleetOptions {
  readonly nodes: number;
  readonly policies: number;
  readonly profile: ProfileName;
  /** Of the plain client. */
  readonly connections: number;
  /** How often node states and policies come and go: after the first time all code is warm, that of the API server, too. */
  readonly rounds: number;
  /** How many nodes ask for a drain at once, at the end; 0 leaves that out. */
  readonly drains: number;
  /** The operator keeps upstream's ConfigMap, too. */
  readonly writeConfigMap: boolean;
  /** Also writes the figures there. */
  readonly json: string | undefined;
  /** Directory for a CPU profile of the operator. */
  readonly cpuProf: string | undefined;
  readonly check: boolean;
}

export const fleetHelp = `npm run bench -- fleet [options]

The operator beside a real API server and simulated nodes; the same writes by a plain client in the same run.
  --nodes N         1000
  --policies N      10
  --profile NAME    ${profileNames.join(" or ")}: 6 PFs without VFs (default), or 2 PFs with 128 VFs each
  --connections N   of the plain client, 1 to 64: 32
  --rounds N        how often node states, and then policies, come and go: 3
  --drains N        nodes that ask for a drain at once, in a pool that lets a tenth of them: 100, at most all
  --write-configmap  the operator keeps upstream's ConfigMap, too
  --json FILE       write the figures there, too
  --cpu-prof DIR    write a CPU profile of the operator there
  --check           exit 1 when a goal of performance.md is missed
`;

/** "help" where that was asked for. Throws BenchError `usage`. */
export function parseFleetOptions(args: readonly string[]): FleetOptions | "help" {
  const values = parse(args);
  if (values.help === true) return "help";
  const profile = profileNames.find((name) => name === values.profile);
  if (profile === undefined) {
    throw new BenchError("usage", `--profile ${values.profile}: not one of ${profileNames.join(", ")}`);
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

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        nodes: { type: "string", default: "1000" },
        policies: { type: "string", default: "10" },
        profile: { type: "string", default: "pf6" },
        connections: { type: "string", default: "32" },
        rounds: { type: "string", default: "3" },
        drains: { type: "string", default: "100" },
        "write-configmap": { type: "boolean" },
        json: { type: "string" },
        "cpu-prof": { type: "string" },
        check: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (cause) {
    throw new BenchError("usage", cause instanceof Error ? cause.message : String(cause), cause);
  }
}
