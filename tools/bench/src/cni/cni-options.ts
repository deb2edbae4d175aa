// SPDX-License-Identifier: Apache-2.0
/** Parses the command line of `npm run bench -- cni`. */
import { commonHelp, parseCount, parseFlags } from "../harness/bench-flags.ts";
import type { BenchOptions } from "../harness/bench.ts";

/** The options of the benchmark. */
export interface CniOptions extends BenchOptions {
  /** How often each program is started. */
  readonly rounds: number;
  /** How many ADDs are started at once. */
  readonly atOnce: number;
  /** Also measure other ways to start the plugin, which eve-bridge does not use. */
  readonly forms: boolean;
}

export const cniHelp = `npm run bench -- cni [options]

Measures the start of the CNI plugin eve-bridge. The baselines are \`node -e 0\` and the stock \`bridge\` plugin; all
programs are started in turn.
  --rounds N           how often each program is started (default 100)
  --at-once N          number of ADDs that are started at the same time (default 50)
  --forms              also measure other ways to start the plugin: compile cache, ES module, snapshot
${commonHelp}`;

/** Parses the command line; "help" for --help. Throws BenchError `usage`. */
export function parseCniOptions(args: readonly string[]): CniOptions | "help" {
  const values = parseFlags(args, {
    rounds: { type: "string", default: "100" },
    "at-once": { type: "string", default: "50" },
    forms: { type: "boolean" },
  });
  if (values.help === true) return "help";
  return {
    rounds: parseCount("--rounds", values.rounds, { minimum: 4, maximum: 10_000 }),
    atOnce: parseCount("--at-once", values["at-once"], { minimum: 1, maximum: 1000 }),
    forms: values.forms === true,
    json: values.json,
    check: values.check === true,
  };
}
