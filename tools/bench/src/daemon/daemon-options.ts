// SPDX-License-Identifier: Apache-2.0
/**
 * The command line of `npm run bench -- daemon`.
 * Usage: `parseDaemonOptions(["--vm", "--idle-seconds", "300"])`
 */
import { parseArgs } from "node:util";
import { BenchError } from "../harness/bench-error.ts";
import { parseCount } from "../harness/parse-count.ts";

export interface DaemonOptions {
  /** In the VM lab on a real kernel; else on the fake kernel. */
  readonly vm: boolean;
  readonly idleSeconds: number;
  readonly rounds: number;
  /** Also writes the figures there. */
  readonly json: string | undefined;
  /** Directory for a CPU profile of the daemon. */
  readonly cpuProf: string | undefined;
  readonly check: boolean;
}

export const daemonHelp = `npm run bench -- daemon [options]

One node's daemon beside a real API server, and beside the time that the kernel alone needs.
  --vm               on a real kernel with igb, in the VM lab; else on the fake kernel, which needs no time
  --idle-seconds N   how long it is watched while nothing happens: 30
  --rounds N         how often VFs come and go: 2
  --json FILE        write the figures there, too
  --cpu-prof DIR     write a CPU profile of the daemon there
  --check            exit 1 when a goal of performance.md is missed
`;

/** "help" where that was asked for. Throws BenchError `usage`. */
export function parseDaemonOptions(args: readonly string[]): DaemonOptions | "help" {
  const values = parse(args);
  if (values.help === true) return "help";
  return {
    vm: values.vm === true,
    idleSeconds: parseCount("--idle-seconds", values["idle-seconds"], { minimum: 1, maximum: 3600 }),
    rounds: parseCount("--rounds", values.rounds, { minimum: 1, maximum: 10 }),
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
        vm: { type: "boolean" },
        "idle-seconds": { type: "string", default: "30" },
        rounds: { type: "string", default: "2" },
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
