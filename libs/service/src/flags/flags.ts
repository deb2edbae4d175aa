// SPDX-License-Identifier: Apache-2.0
/**
 * flag and parseFlags provide the typed flags of a process. The value of a flag comes from the command line, else from
 * its environment variable, else from its default. An empty variable counts as not set: a pod gets one from an optional
 * reference to a ConfigMap key that does not exist.
 * Usage: `const flags = { resync: flag(durationMs, { default: "5m", env: "RESYNC", help: "Time between full syncs." }) }`.
 */
import { parseArgs } from "node:util";
import type { FlagKind } from "./flag-kinds.ts";
import { ServiceError } from "../errors.ts";

/** A flag with values of type Value; undefined belongs to Value when the flag is optional. */
export interface Flag<Value> {
  readonly kind: Omit<FlagKind<unknown>, "parse">;
  /** Text for --help: one or two sentences. */
  readonly help: string;
  /** Environment variable that sets the flag. */
  readonly env: string;
  /** Default, as a user would write it on the command line. */
  readonly default: string | undefined;
  /** The flag has no default and the user must set it. */
  readonly required: boolean;
  /** Returns the value of `text`, or of the default if `text` is undefined. Never throws: a typing error is no exception. */
  readonly read: (text: string | undefined) => { readonly value: Value } | "malformed" | "missing";
}

/** Flags by name: the flag `nodeName` is --node-name on the command line. */
export type FlagsOf<Values> = { readonly [Name in keyof Values]: Flag<Values[Name]> };

/** Flags with values of any type. */
export type AnyFlags = Readonly<Record<string, Flag<unknown>>>;

/** What a command line asks for: to run with these values, or something else. */
export type ParsedFlags<Values> = { readonly kind: "run"; readonly values: Values } | NoRun;

/** The command line has --help or --version, or is invalid. */
export type NoRun = { readonly kind: "help" | "version" } | { readonly kind: "invalid"; readonly problem: FlagProblem };

/** Why a command line is invalid. `message` is one line for the user. */
export interface FlagProblem {
  readonly code: "unknown-flag" | "unexpected-argument" | "no-value" | "bad-value" | "missing";
  readonly message: string;
}

/** Environment variables, such as process.env. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface FlagText {
  readonly env: string;
  readonly help: string;
}

/**
 * Defines a flag that always has a value: it has a default or is required. Throws ServiceError BAD_FLAG_DEFAULT if the
 * default cannot be parsed.
 */
export function flag<Value>(
  kind: FlagKind<Value>,
  options: FlagText & ({ readonly default: string } | { readonly required: true }),
): Flag<Value>;
/** Defines an optional flag. */
export function flag<Value>(kind: FlagKind<Value>, options: FlagText): Flag<Value | undefined>;
export function flag<Value>(
  kind: FlagKind<Value>,
  options: FlagText & { readonly default?: string; readonly required?: true },
): Flag<Value | undefined> {
  if (options.default !== undefined && kind.parse(options.default) === undefined) {
    throw new ServiceError(
      "BAD_FLAG_DEFAULT",
      `invalid default "${options.default}" of flag with variable ${options.env}: expected ${kind.expected}`,
    );
  }
  return {
    kind,
    help: options.help,
    env: options.env,
    default: options.default,
    required: options.required === true,
    read: (given) => {
      const text = given ?? options.default;
      if (text === undefined) return options.required === true ? "missing" : { value: undefined };
      const value = kind.parse(text);
      return value === undefined ? "malformed" : { value };
    },
  };
}

/** Reads the values of `flags` from arguments (without node and the script), environment and defaults. */
export function parseFlags<Values extends object>(
  flags: FlagsOf<Values>,
  argv: readonly string[],
  env: Environment,
): ParsedFlags<Values> {
  const given = readArguments(flags, argv);
  return given.kind === "run" ? readValues(flags, given.texts, env) : given;
}

/**
 * Returns the texts of the command line by option ("--node-name"). Checks that each option is one of `flags`, --help or
 * --version, but does not parse the texts.
 */
export function readArguments(
  flags: AnyFlags,
  argv: readonly string[],
): { readonly kind: "run"; readonly texts: ReadonlyMap<string, string> } | NoRun {
  const kinds = new Map(Object.entries(flags).map(([name, { kind }]) => [optionOf(name), kind]));
  const options = Object.fromEntries(
    [...kinds].map(
      ([option, kind]) => [option.slice(2), { type: kind.alone === undefined ? "string" : "boolean" }] as const,
    ),
  );
  // Not strict: the messages of strict mode have several lines, and it refuses "--flag=true".
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true });

  const texts = new Map<string, string>();
  const words = tokens.filter((token) => token.kind === "option").map((token) => token.rawName);
  if (words.includes("--help") || words.includes("-h")) return { kind: "help" };
  if (words.includes("--version")) return { kind: "version" };
  for (const token of tokens) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional") return invalid("unexpected-argument", `unexpected argument "${token.value}"`);
    const kind = kinds.get(token.rawName);
    if (kind === undefined) return invalid("unknown-flag", `unknown flag ${token.rawName}; --help lists all flags`);
    const text = token.value ?? kind.alone;
    // "--namespace --log-level debug" lacks a value. A value that begins with a dash is written "--flag=-value".
    if (text === undefined || (token.inlineValue === false && text.startsWith("-"))) {
      return invalid("no-value", `flag ${token.rawName} needs a value: expected ${kind.expected}`);
    }
    texts.set(token.rawName, text);
  }
  return { kind: "run", texts };
}

/** Reads the values of `flags` from the texts of readArguments, the environment and the defaults. Ignores other texts. */
export function readValues<Values extends object>(
  flags: FlagsOf<Values>,
  texts: ReadonlyMap<string, string>,
  env: Environment,
): ParsedFlags<Values> {
  const values: Record<string, unknown> = {};
  const all: AnyFlags = flags;
  for (const [name, one] of Object.entries(all)) {
    const option = optionOf(name);
    const argument = texts.get(option);
    const variable = env[one.env] === "" ? undefined : env[one.env];
    const reading = one.read(argument ?? variable);
    if (reading === "missing") {
      return invalid("missing", `flag ${option} is required; set it or the environment variable ${one.env}`);
    }
    if (reading === "malformed") {
      const source = argument === undefined ? `environment variable ${one.env}` : `flag ${option}`;
      const given = argument ?? variable ?? "";
      return invalid("bad-value", `invalid value "${given}" for ${source}: expected ${one.kind.expected}`);
    }
    values[name] = reading.value;
  }
  // Values has, for each name, the type that the flag of this name reads. The compiler cannot see this in a loop.
  return { kind: "run", values: values as Values };
}

/** Returns "--node-name" for "nodeName". */
export function optionOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function invalid(code: FlagProblem["code"], message: string): NoRun {
  return { kind: "invalid", problem: { code, message } };
}
