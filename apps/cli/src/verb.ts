// SPDX-License-Identifier: Apache-2.0
/** Verb is a verb of the command line: its help, its flags, and how to load its code. */
import { flagSpecs, type FlagName, type Flags, type FlagSpec } from "./flags.ts";
import type { ExitCode, Terminal } from "./terminal.ts";
import { wrap } from "./text.ts";

const width = 80;

export interface Verb {
  readonly name: string;
  /** One line. */
  readonly summary: string;
  /** Operands after the name in the usage line, such as "KIND[.FIELD]". */
  readonly operands?: string;
  /** Paragraphs of the help below the summary, not wrapped. */
  readonly about: readonly string[];
  readonly examples: readonly string[];
  /** The supported flags; all verbs support --help. */
  readonly flags: readonly FlagName[];
  /** Values of the operand, for completion. */
  readonly operandChoices?: readonly string[];
  /** Loads the code of the verb, so that a command loads only what it needs. */
  readonly load: () => Promise<RunVerb>;
}

/** The input of a verb. */
export interface Call {
  readonly flags: Flags;
  readonly operands: readonly string[];
  readonly terminal: Terminal;
  /** All verbs, for completion. */
  readonly verbs: readonly Verb[];
}

/** Throws CliError to end the command with one message. */
export type RunVerb = (call: Call) => Promise<ExitCode>;

/** The help of the command. */
export function overview(verbs: readonly Verb[]): string {
  const longest = Math.max(...verbs.map(({ name }) => name.length));
  const lines = verbs.flatMap(({ name, summary }) => entry(`  ${name.padEnd(longest)}  `, summary));
  return [
    "Usage: switchyard VERB [FLAG...]",
    "",
    ...wrap(
      "Shows what Switchyard would do with manifests, and what is wrong in a cluster. It calls the same functions as the operator, the webhook and the config daemons. Installed as kubectl-switchyard on the PATH, it is a kubectl plugin.",
      width,
    ),
    "",
    ...lines,
    "",
    ...wrap(
      "Exit codes: 0 success; 1 an object was rejected or a problem was reported; 2 there are changes to make (plan --detailed-exitcode); 64 wrong usage. Run `switchyard VERB --help` for the flags of a verb.",
      width,
    ),
    "",
  ].join("\n");
}

/** helpOf and overview are the texts of --help, at most 80 columns wide. The help of one verb. */
export function helpOf(verb: Verb): string {
  const { name, operands, summary, about, examples } = verb;
  const flags: readonly FlagName[] = [...verb.flags, "help"];
  const operand = operands === undefined ? "" : ` ${operands}`;
  return [
    `Usage: switchyard ${name}${operand}${verb.flags.length > 0 ? " [FLAG...]" : ""}`,
    "",
    ...[summary, ...about].flatMap((paragraph) => [...wrap(paragraph, width), ""]),
    "Flags:",
    ...flags.flatMap((flag) => [
      `  ${spelling(flagSpecs[flag])}`,
      ...wrap(meaning(flagSpecs[flag]), width - 6).map((line) => `      ${line}`),
    ]),
    "",
    "Examples:",
    ...examples.map((example) => `  ${example}`),
    "",
  ].join("\n");
}

/** "-f, --filename FILE|DIR|-". */
function spelling({ long, short, value, choices }: FlagSpec): string {
  return `${short === undefined ? "" : `-${short}, `}--${long}${value === undefined ? "" : ` ${choices?.join("|") ?? value}`}`;
}

function meaning({ help, default: fallback }: FlagSpec): string {
  return fallback === undefined ? help : `${help} Default: ${fallback}.`;
}

function entry(head: string, text: string): readonly string[] {
  const [first = "", ...more] = wrap(text, width - head.length);
  return [`${head}${first}`, ...more.map((line) => `${" ".repeat(head.length)}${line}`)];
}
