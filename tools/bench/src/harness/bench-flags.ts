// SPDX-License-Identifier: Apache-2.0
/**
 * parseFlags parses the command line of a benchmark: its own flags and those that every benchmark has.
 * Usage: `const values = parseFlags(args, { rounds: { type: "string", default: "3" } })`
 */
import { parseArgs, type ParseArgsConfig } from "node:util";
import { BenchError } from "./bench-error.ts";

const commonFlags = {
  json: { type: "string" },
  check: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

type Flags = NonNullable<ParseArgsConfig["options"]>;
type Values<F extends Flags> = ReturnType<typeof parseArgs<{ options: F & typeof commonFlags }>>["values"];

/** The lines of a benchmark's help for the flags that every benchmark has. */
export const commonHelp = `  --json FILE          also write the report to FILE, as JSON
  --check              exit with status 1 if a goal is missed
`;

/** The values of the flags. Throws BenchError `usage`. */
export function parseFlags<const F extends Flags>(args: readonly string[], flags: F): Values<F> {
  try {
    return parseArgs({ args: [...args], options: { ...flags, ...commonFlags } }).values;
  } catch (cause) {
    throw new BenchError("usage", cause instanceof Error ? cause.message : String(cause), cause);
  }
}
