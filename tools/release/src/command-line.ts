// SPDX-License-Identifier: Apache-2.0
/** Parses the command line of `npm run release`, and prints its help text. */
import { parseArgs } from "node:util";
import { ReleaseError } from "./release-error.ts";

type Verbs = Readonly<Record<string, Verb>>;

export interface ParsedCommandLine extends Pick<VerbInput, "operands" | "flags"> {
  readonly verb: Verb;
}

/** What a verb of `npm run release` is, and what it gets. */
interface FlagHelp {
  /** The value, as in the help text: "DIR". Absent if the flag has none. */
  readonly value?: string;
  readonly summary: string;
}

/** The command line of a verb, after it was parsed. */
export interface VerbInput {
  /** Root of the workspace. */
  readonly root: string;
  readonly operands: readonly string[];
  /** The values of the flags that were given; flags without a value are "true". */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Prints a line of the result to stdout. */
  readonly print: (line: string) => void;
}

export interface Verb {
  readonly summary: string;
  /** As in the help text: "X.Y.Z". Empty if the verb takes none. */
  readonly operands: string;
  readonly flags: Readonly<Record<string, FlagHelp>>;
  readonly run: (input: VerbInput) => Promise<void>;
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
