// SPDX-License-Identifier: Apache-2.0
/**
 * Typed flags of a process. Each can also be set by an environment variable; the command line wins over it, and it over
 * the default. An empty variable counts as absent: that is what a pod gets from a reference to nothing.
 * Usage: `const flags = { resync: flag(durationMs, { default: "5m", env: "RESYNC", help: "Time between full syncs." }) }`,
 * then `parseFlags(flags, process.argv.slice(2), process.env)` has `values.resync`, a number.
 */
import { parseArgs } from "node:util";
import type { FlagKind } from "./flag-kinds.ts";
import { ServiceError } from "./service-error.ts";

/** A flag whose value is a Value, which has undefined in it when the flag may be absent. */
export interface Flag<Value> {
  readonly kind: Omit<FlagKind<unknown>, "parse">;
  /** One sentence or two for --help. */
  readonly help: string;
  /** Environment variable that sets it. */
  readonly env: string;
  /** Default, as a user would write it. */
  readonly default: string | undefined;
  /** Without a default: the user must give a value. */
  readonly required: boolean;
  /** Value of a text; of the default, when there is no text. Never throws: users mistype. */
  readonly read: (text: string | undefined) => { readonly value: Value } | "malformed" | "missing";
}

/** Flags by name: `nodeName` is --node-name. */
export type FlagsOf<Values> = { readonly [Name in keyof Values]: Flag<Values[Name]> };

/** Flags of any types. */
export type AnyFlags = Readonly<Record<string, Flag<unknown>>>;

/** What the command line asks for. */
export type ParsedFlags<Values> = { readonly asked: "run"; readonly values: Values } | AskedOtherwise;

/** What is not "run with these values": --help, --version, or nothing that could be understood. */
export type AskedOtherwise =
  { readonly asked: "help" | "version" } | { readonly asked: "nothing"; readonly problem: FlagProblem };

/** Why a command line cannot be understood; `message` is one line for the user. */
export interface FlagProblem {
  readonly code: "unknown-flag" | "unexpected-argument" | "no-value" | "bad-value" | "missing";
  readonly message: string;
}

/** Environment variables, as process.env has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface FlagText {
  readonly env: string;
  readonly help: string;
}

/** A flag that always has a value: its default, or the user must give one. Throws ServiceError if the default is none. */
export function flag<Value>(
  kind: FlagKind<Value>,
  options: FlagText & ({ readonly default: string } | { readonly required: true }),
): Flag<Value>;
/** A flag that may be absent. */
export function flag<Value>(kind: FlagKind<Value>, options: FlagText): Flag<Value | undefined>;
export function flag<Value>(
  kind: FlagKind<Value>,
  options: FlagText & { readonly default?: string; readonly required?: true },
): Flag<Value | undefined> {
  if (options.default !== undefined && kind.parse(options.default) === undefined) {
    throw new ServiceError(
      "BAD_FLAG_DEFAULT",
      `default of ${options.env}: "${options.default}" is not ${kind.expected}`,
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

/** Reads arguments (without node and the script) and environment. Every process also has --help and --version. */
export function parseFlags<Values extends object>(
  flags: FlagsOf<Values>,
  argv: readonly string[],
  env: Environment,
): ParsedFlags<Values> {
  const given = readArguments(flags, argv);
  return given.asked === "run" ? readValues(flags, given.texts, env) : given;
}

/** The command line's texts by option ("--node-name"), checked against the names of `flags` but not yet read. */
export function readArguments(
  flags: AnyFlags,
  argv: readonly string[],
): { readonly asked: "run"; readonly texts: ReadonlyMap<string, string> } | AskedOtherwise {
  const kinds = new Map(Object.entries(flags).map(([name, { kind }]) => [optionOf(name), kind]));
  const options = Object.fromEntries(
    [...kinds].map(
      ([option, kind]) => [option.slice(2), { type: kind.alone === undefined ? "string" : "boolean" }] as const,
    ),
  );
  // Not strict: node's own messages span lines, and it refuses "--flag=true".
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true });

  const texts = new Map<string, string>();
  const words = tokens.filter((token) => token.kind === "option").map((token) => token.rawName);
  if (words.includes("--help") || words.includes("-h")) return { asked: "help" };
  if (words.includes("--version")) return { asked: "version" };
  for (const token of tokens) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional") return nothing("unexpected-argument", `unexpected argument "${token.value}"`);
    const kind = kinds.get(token.rawName);
    if (kind === undefined) return nothing("unknown-flag", `unknown flag ${token.rawName}; --help lists them`);
    const text = token.value ?? kind.alone;
    // "--namespace --log-level debug" forgot a value; who means one that begins with a dash writes "--flag=-value".
    if (text === undefined || (token.inlineValue === false && text.startsWith("-"))) {
      return nothing("no-value", `${token.rawName} needs a value, ${kind.expected}`);
    }
    texts.set(token.rawName, text);
  }
  return { asked: "run", texts };
}

/** Values of `flags` from texts of the command line, the environment and the defaults. Texts of other flags are ignored. */
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
    if (reading === "missing") return nothing("missing", `${option} is missing; the variable ${one.env} sets it too`);
    if (reading === "malformed") {
      const source = argument === undefined ? one.env : option;
      return nothing("bad-value", `${source}: "${argument ?? variable ?? ""}" is not ${one.kind.expected}`);
    }
    values[name] = reading.value;
  }
  // Each value was read by the flag of its name, which is what Values says; the compiler cannot follow the loop.
  return { asked: "run", values: values as Values };
}

/** "--node-name" for "nodeName". */
export function optionOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function nothing(code: FlagProblem["code"], message: string): AskedOtherwise {
  return { asked: "nothing", problem: { code, message } };
}
