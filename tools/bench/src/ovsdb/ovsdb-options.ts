// SPDX-License-Identifier: Apache-2.0
/** Parses the command line of `npm run bench -- ovsdb`. */
import { commonHelp, parseCount, parseFlags } from "../harness/bench-flags.ts";
import type { BenchOptions } from "../harness/bench.ts";

/** The options of the benchmark. */
export interface OvsdbOptions extends BenchOptions {
  /** Bridges in the database, each with one port. */
  readonly bridges: number;
  /** How often the database is read by each program. */
  readonly rounds: number;
  /** How many changes are timed. */
  readonly changes: number;
}

export const ovsdbHelp = `npm run bench -- ovsdb [options]

Measures the OVSDB client with a real ovsdb-server. The baseline is \`ovsdb-client dump\`, started in turn with it.
  --bridges N          bridges in the database (default 1000)
  --rounds N           how often each program reads the database (default 10)
  --changes N          number of changes that are timed (default 100)
${commonHelp}`;

/** Parses the command line; "help" for --help. Throws BenchError `usage`. */
export function parseOvsdbOptions(args: readonly string[]): OvsdbOptions | "help" {
  const values = parseFlags(args, {
    bridges: { type: "string", default: "1000" },
    rounds: { type: "string", default: "10" },
    changes: { type: "string", default: "100" },
  });
  if (values.help === true) return "help";
  return {
    bridges: parseCount("--bridges", values.bridges, { minimum: 1, maximum: 100_000 }),
    rounds: parseCount("--rounds", values.rounds, { minimum: 1, maximum: 1_000 }),
    changes: parseCount("--changes", values.changes, { minimum: 2, maximum: 100_000 }),
    json: values.json,
    check: values.check === true,
  };
}
