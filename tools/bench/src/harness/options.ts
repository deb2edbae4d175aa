// SPDX-License-Identifier: Apache-2.0
/** The options of a scenario as data, from which its help and the parser of its command line are made. Pure. */
import { flag, integer, optionOf, parseFlags, text, yesOrNo, type Flag, type FlagKind } from "@switchyard/service";
import { BenchError } from "./run.ts";

/** An option; its name on the command line is in kebab-case. The defaults are texts as on the command line. */
export interface OptionSpec<Value = unknown> {
  readonly help: string;
  readonly kind: FlagKind<Value>;
  /** Absent for an option without a value. */
  readonly default?: string;
  /** The default with --quick. */
  readonly quick?: string;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** The values of the options. */
export type Options<Specs extends OptionSpecs> = {
  readonly [Name in keyof Specs]: Specs[Name] extends { readonly kind: FlagKind<infer Value> }
    ? Value | (Specs[Name] extends { readonly default: string } ? never : undefined)
    : never;
};

interface Count {
  readonly standard: number;
  readonly quick?: number;
  readonly range: readonly [minimum: number, maximum: number];
}

/** A whole number. */
export function count(help: string, { standard, quick = standard, range: [minimum, maximum] }: Count) {
  return { help, kind: integer({ minimum, maximum }), default: `${standard}`, quick: `${quick}` };
}

/** An option that is false without it. */
export function toggle(help: string) {
  return { help, kind: yesOrNo, default: "false" };
}

/** Some of these words, separated by commas. */
export function someOf<const Word extends string>(...words: readonly Word[]): FlagKind<readonly Word[]> {
  const parse = (given: string) => {
    const chosen = given.split(",").map((one) => words.find((word) => word === one));
    const known = chosen.filter((word) => word !== undefined);
    return known.length === chosen.length ? known : undefined;
  };
  return { placeholder: "NAMES", expected: `some of ${words.join(",")}`, parse };
}

/** The options that every scenario has. */
export const commonOptions = {
  quick: toggle("a small run that shows whether the scenario works; its figures say nothing"),
  json: { help: "also write the report to FILE, as JSON", kind: text("FILE") },
  check: toggle("exit with status 1 if a goal is missed"),
};

/** Options of several scenarios. */
export const sharedOptions = {
  connections: count("connections of the plain client", { standard: 32, range: [1, 64] }),
  cpuProf: { help: "write CPU profiles of the measured program to DIR", kind: text("DIR") },
};

/** The lines of the help for the options. */
export function describeOptions(specs: OptionSpecs): string {
  return Object.entries(specs)
    .map(([name, { help, kind, default: standard }]) => {
      const { placeholder, expected } = kind;
      if (kind.alone !== undefined) return `  ${optionOf(name).padEnd(22)} ${help}\n`;
      const more = standard === undefined ? "" : ` (${expected}; default ${standard})`;
      return `  ${`${optionOf(name)} ${placeholder}`.padEnd(22)} ${help}${more}\n`;
    })
    .join("");
}

/** The options of a scenario, and those that every scenario has. */
export interface CommandLine<Specs extends OptionSpecs> {
  readonly options: Options<Specs>;
  readonly json: string | undefined;
  readonly check: boolean;
}

/** Returns "help" for --help. Throws BenchError `usage`, and ServiceError BAD_FLAG_DEFAULT. */
export function parseOptions<Specs extends OptionSpecs>(
  args: readonly string[],
  specs: Specs,
): CommandLine<Specs> | "help" {
  const isQuick = args.includes("--quick");
  const flags = Object.entries({ ...specs, ...commonOptions }).map(([name, spec]: [string, OptionSpec]) => {
    const standard = (isQuick ? spec.quick : undefined) ?? spec.default;
    const about = { help: spec.help, env: "", ...(standard !== undefined && { default: standard }) };
    return [name, flag(spec.kind, about)] as const;
  });
  const parsed = parseFlags<Record<string, unknown>>(Object.fromEntries<Flag<unknown>>(flags), args, {});
  if (parsed.kind === "invalid") throw new BenchError("usage", parsed.problem.message);
  if (parsed.kind !== "run") return "help";
  const { quick: _, json, check, ...options } = parsed.values;
  return {
    options: options as Options<Specs>, // the type says what the flags read
    json: typeof json === "string" ? json : undefined,
    check: check === true,
  };
}
