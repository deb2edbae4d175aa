// SPDX-License-Identifier: Apache-2.0
/** Parses the command line of `npm run bench -- daemon`. */
import { commonHelp, parseCount, parseFlags } from "../harness/bench-flags.ts";
import type { BenchOptions } from "../harness/bench.ts";

/** The options of the benchmark. */
export interface DaemonOptions extends BenchOptions {
  /** Whether the daemon runs on a real kernel in the VM lab instead of on the fake kernel. */
  readonly vm: boolean;
  /** Whether it is a NIC with an eswitch, and a bridge of Open vSwitch. */
  readonly ovs: boolean;
  /** Whether it is a NIC with an eswitch, and subfunctions for AF_XDP. */
  readonly subfunctions: boolean;
  readonly idleSeconds: number;
  readonly rounds: number;
  /** Path of a directory for a CPU profile of the daemon. */
  readonly cpuProf: string | undefined;
}

export const daemonHelp = `npm run bench -- daemon [options]

Measures the config daemon of one node with a real API server. The baseline is the time that the kernel alone needs.
  --vm                 use a real kernel with igb in the VM lab instead of the fake kernel
  --ovs                use the VM lab with a simulated eswitch, and measure switchdev mode with a bridge of Open vSwitch
  --subfunctions       use the VM lab with a simulated eswitch, and measure 64 subfunctions next to a loop of devlink commands
  --idle-seconds N     how long the idle daemon is measured (default 30)
  --rounds N           how often the daemon starts, and VFs are created and removed (default 2)
  --cpu-prof DIR       write a CPU profile of the daemon to DIR
${commonHelp}`;

/** Parses the command line; "help" for --help. Throws BenchError `usage`. */
export function parseDaemonOptions(args: readonly string[]): DaemonOptions | "help" {
  const values = parseFlags(args, {
    vm: { type: "boolean" },
    ovs: { type: "boolean" },
    subfunctions: { type: "boolean" },
    "idle-seconds": { type: "string", default: "30" },
    rounds: { type: "string", default: "2" },
    "cpu-prof": { type: "string" },
  });
  if (values.help === true) return "help";
  return {
    vm: values.vm === true || values.ovs === true || values.subfunctions === true,
    ovs: values.ovs === true,
    subfunctions: values.subfunctions === true,
    idleSeconds: parseCount("--idle-seconds", values["idle-seconds"], { minimum: 1, maximum: 3600 }),
    rounds: parseCount("--rounds", values.rounds, { minimum: 1, maximum: 10 }),
    json: values.json,
    cpuProf: values["cpu-prof"],
    check: values.check === true,
  };
}
