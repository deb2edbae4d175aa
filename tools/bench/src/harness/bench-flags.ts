// SPDX-License-Identifier: Apache-2.0
/** parseFlags parses the command line of a benchmark: its own flags and those that every benchmark has. */
import { parseArgs, type ParseArgsConfig } from "node:util";
import { BenchError } from "./run-control.ts";

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

/**
 * parseCount parses a whole number on a command line.
 * Returns a number from `minimum` to `maximum`. Throws BenchError `usage`.
 */
export function parseCount(
  flag: string,
  text: string,
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= minimum && number <= maximum) return number;
  throw new BenchError("usage", `${flag} must be a whole number from ${minimum} to ${maximum}, not "${text}"`);
}
