// SPDX-License-Identifier: Apache-2.0
/**
 * The command line of `npm run bench -- cni`.
 * Usage: `parseCniOptions(["--rounds", "100", "--forms"])`
 */
import { parseArgs } from "node:util";
import { BenchError } from "../harness/bench-error.ts";
import { parseCount } from "../harness/parse-count.ts";

export interface CniOptions {
  /** How often each program is started. */
  readonly rounds: number;
  /** How many ADDs are started at once. */
  readonly atOnce: number;
  /** Also the forms of launchers that were not chosen. */
  readonly forms: boolean;
  /** Also writes the figures there. */
  readonly json: string | undefined;
  readonly check: boolean;
}

export const cniHelp = `npm run bench -- cni [options]

The CNI plugin eve-bridge beside \`node -e 0\` and the stock \`bridge\` plugin, started in turn.
  --rounds N     how often each is started: 100
  --at-once N    how many ADDs are started at once: 50
  --forms        also other ways to start the plugin: compile cache, ES module, snapshot
  --json FILE    write the figures there, too
  --check        exit 1 when a goal is missed
`;

/** "help" where that was asked for. Throws BenchError `usage`. */
export function parseCniOptions(args: readonly string[]): CniOptions | "help" {
  const values = parse(args);
  if (values.help === true) return "help";
  return {
    rounds: parseCount("--rounds", values.rounds, { minimum: 4, maximum: 10_000 }),
    atOnce: parseCount("--at-once", values["at-once"], { minimum: 1, maximum: 1000 }),
    forms: values.forms === true,
    json: values.json,
    check: values.check === true,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        rounds: { type: "string", default: "100" },
        "at-once": { type: "string", default: "50" },
        forms: { type: "boolean" },
        json: { type: "string" },
        check: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (cause) {
    throw new BenchError("usage", cause instanceof Error ? cause.message : String(cause), cause);
  }
}
