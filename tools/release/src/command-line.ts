// SPDX-License-Identifier: Apache-2.0
/**
 * Parses the command line of `npm run release`, and prints its help text.
 * Usage: `const command = parseCommandLine(verbs, ["chart", "--output", "dist/chart"])`.
 */
import { parseArgs } from "node:util";
import { ReleaseError } from "./release-error.ts";
import type { Verb, VerbInput } from "./verb.ts";

type Verbs = Readonly<Record<string, Verb>>;

export interface ParsedCommandLine extends Pick<VerbInput, "operands" | "flags"> {
  readonly verb: Verb;
}

/** Returns undefined if the user asks for help. Throws a ReleaseError with code "usage". */
export function parseCommandLine(verbs: Verbs, args: readonly string[]): ParsedCommandLine | undefined {
  const [name, ...rest] = args;
  if (name === undefined || name === "help" || args.includes("--help")) return undefined;
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (verb === undefined) {
    throw new ReleaseError("usage", `unknown verb "${name}"; the verbs are ${Object.keys(verbs).join(", ")}`);
  }
  const options = Object.entries(verb.flags).map(
    ([flag, { value }]) => [flag, { type: value === undefined ? "boolean" : "string" }] as const,
  );
  try {
    const { values, positionals } = parseArgs({
      args: rest,
      options: Object.fromEntries(options),
      allowPositionals: verb.operands !== "",
    });
    const flags = Object.entries(values).map(([flag, value]) => [flag, String(value)] as const);
    return { verb, operands: positionals, flags: Object.fromEntries(flags) };
  } catch (error) {
    throw new ReleaseError("usage", `${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Returns the value of a flag that the verb cannot do without. */
export function requireFlag({ flags }: Pick<VerbInput, "flags">, name: string): string {
  const value = flags[name];
  if (value === undefined || value === "") throw new ReleaseError("usage", `the flag --${name} is required`);
  return value;
}

/** The help text of all verbs. */
export function helpText(verbs: Verbs): string {
  const lines = Object.entries(verbs).flatMap(([name, { operands, summary, flags }]) => [
    row([name, operands].join(" ").trim(), summary),
    ...Object.entries(flags).map(([flag, { value = "", summary: does }]) =>
      row(`  --${flag} ${value}`.trimEnd(), does),
    ),
  ]);
  return `npm run release -- VERB: the steps of a release (docs/contributing/releasing.md)\n\n${lines.join("\n")}\n`;
}

function row(left: string, right: string): string {
  return `  ${left.padEnd(28)}  ${right}`;
}
