// SPDX-License-Identifier: Apache-2.0
/** Parses the command line of `npm run bench -- diagnosis`. */
import { commonHelp, parseCount, parseFlags } from "../harness/bench-flags.ts";
import type { BenchOptions } from "../harness/bench.ts";

/** The options of the benchmark. */
export interface DiagnosisOptions extends BenchOptions {
  readonly nodes: number;
  /** VFs of each of the two PFs of a node. */
  readonly vfs: number;
  /** How often each command runs. */
  readonly rounds: number;
}

export const diagnosisHelp = `npm run bench -- diagnosis [options]

Measures switchyard doctor, plan and vfs with files of a large cluster, and doctor with a real API server. The baselines are a
program that only parses the file with JSON.parse, and a plain client that lists what doctor has listed, in turn with them.
  --nodes N            nodes in the files (default 1000)
  --vfs N              VFs of each of the two PFs of a node (default 64)
  --rounds N           how often each command runs (default 5)
${commonHelp}`;

/** Parses the command line; "help" for --help. Throws BenchError `usage`. */
export function parseDiagnosisOptions(args: readonly string[]): DiagnosisOptions | "help" {
  const values = parseFlags(args, {
    nodes: { type: "string", default: "1000" },
    vfs: { type: "string", default: "64" },
    rounds: { type: "string", default: "5" },
  });
  if (values.help === true) return "help";
  return {
    nodes: parseCount("--nodes", values.nodes, { minimum: 1, maximum: 100_000 }),
    vfs: parseCount("--vfs", values.vfs, { minimum: 1, maximum: 128 }),
    rounds: parseCount("--rounds", values.rounds, { minimum: 1, maximum: 1_000 }),
    json: values.json,
    check: values.check === true,
  };
}
