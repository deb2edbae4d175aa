// SPDX-License-Identifier: Apache-2.0
/** The options of a scenario as data, from which its help and the parser of its command line are made. Pure. */
import { parseArgs, type ParseArgsOptionDescriptor } from "node:util";
import { BenchError } from "./run.ts";

/** An option; its flag is the name in kebab-case. `quick` is the default with --quick. */
export type OptionSpec = { readonly help: string } & (
  | { readonly count: number; readonly quick?: number; readonly range: readonly [minimum: number, maximum: number] }
  /** One of these words; the first is the default. */
  | { readonly choice: readonly string[] }
  /** Some of these words; all by default, and the first with --quick. */
  | { readonly choices: readonly string[] }
  | { readonly flag: true }
  | { readonly path: "DIR" | "FILE" }
);

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

type OptionValue<Spec> = Spec extends { readonly count: number }
  ? number
  : Spec extends { readonly choice: readonly (infer Word)[] }
    ? Word
    : Spec extends { readonly choices: readonly (infer Word)[] }
      ? readonly Word[]
      : Spec extends { readonly flag: true }
        ? boolean
        : string | undefined;

/** The values of the options. */
export type Options<Specs extends OptionSpecs> = { readonly [Name in keyof Specs]: OptionValue<Specs[Name]> };

/** The options that every scenario has. */
export const commonOptions = {
  quick: { help: "a small run that shows whether the scenario works; its figures say nothing", flag: true },
  json: { help: "also write the report to FILE, as JSON", path: "FILE" },
  check: { help: "exit with status 1 if a goal is missed", flag: true },
} as const satisfies OptionSpecs;

/** Options of several scenarios. */
export const sharedOptions = {
  connections: { help: "connections of the plain client", count: 32, range: [1, 64] },
  cpuProf: { help: "write CPU profiles of the measured program to DIR", path: "DIR" },
} as const satisfies OptionSpecs;

/** The lines of the help for the options. */
export function describeOptions(specs: OptionSpecs): string {
  return Object.entries(specs)
    .map(([name, spec]) => `  ${`--${flagOf(name)}${placeholder(spec)}`.padEnd(20)} ${spec.help}${defaultOf(spec)}\n`)
    .join("");
}

/** The options of a scenario, and those that every scenario has. */
export interface CommandLine<Specs extends OptionSpecs> {
  readonly options: Options<Specs>;
  readonly json: string | undefined;
  readonly check: boolean;
}

/** Returns "help" for --help. Throws BenchError `usage`. */
export function parseOptions<Specs extends OptionSpecs>(
  args: readonly string[],
  specs: Specs,
): CommandLine<Specs> | "help" {
  const texts = parse(args, { ...specs, ...commonOptions });
  if (texts["help"] === true) return "help";
  const isQuick = texts["quick"] === true;
  const entries = Object.entries(specs).map(([name, spec]) => [
    name,
    valueOf(name, spec, texts[flagOf(name)], isQuick),
  ]);
  const options = Object.fromEntries(entries) as Options<Specs>; // the type says what valueOf does
  return {
    options,
    json: typeof texts["json"] === "string" ? texts["json"] : undefined,
    check: texts["check"] === true,
  };
}

type Texts = Readonly<Record<string, unknown>>;

function parse(args: readonly string[], specs: OptionSpecs): Texts {
  const options = Object.entries(specs).map(([name, spec]): [string, ParseArgsOptionDescriptor] => [
    flagOf(name),
    { type: "flag" in spec ? "boolean" : "string", multiple: "choices" in spec },
  ]);
  const help = { type: "boolean", short: "h" } as const;
  try {
    return parseArgs({ args: [...args], options: { ...Object.fromEntries(options), help } }).values;
  } catch (cause) {
    throw new BenchError("usage", cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function valueOf(name: string, spec: OptionSpec, given: unknown, isQuick: boolean) {
  if ("flag" in spec) return given === true;
  if ("path" in spec) return typeof given === "string" ? given : undefined;
  if ("count" in spec) {
    const { count, quick = count, range } = spec;
    return typeof given === "string" ? countOf(name, given, range) : isQuick ? quick : count;
  }
  if ("choice" in spec) return typeof given === "string" ? wordOf(name, given, spec.choice) : spec.choice[0];
  const words: readonly unknown[] = Array.isArray(given) ? given : spec.choices.slice(0, isQuick ? 1 : undefined);
  return words.map((word) => wordOf(name, String(word), spec.choices));
}

function countOf(name: string, text: string, [minimum, maximum]: readonly [number, number]): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= minimum && number <= maximum) return number;
  throw new BenchError(
    "usage",
    `--${flagOf(name)} must be a whole number from ${minimum} to ${maximum}, not "${text}"`,
  );
}

function wordOf(name: string, text: string, words: readonly string[]): string {
  if (words.includes(text)) return text;
  throw new BenchError("usage", `--${flagOf(name)} must be ${words.join(" or ")}, not "${text}"`);
}

function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function placeholder(spec: OptionSpec): string {
  if ("count" in spec) return " N";
  if ("path" in spec) return ` ${spec.path}`;
  return "flag" in spec ? "" : " NAME";
}

function defaultOf(spec: OptionSpec): string {
  if ("count" in spec) return ` (default ${spec.count})`;
  if ("choice" in spec) return ` (${spec.choice.join(" or ")}; default ${spec.choice[0] ?? ""})`;
  return "choices" in spec ? ` (${spec.choices.join(", ")}; can be repeated; default: all)` : "";
}
