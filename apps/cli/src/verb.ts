// SPDX-License-Identifier: Apache-2.0
/** Verb is a verb of the command line: its help, its flags, and how to load its code. */
import type { ExitCode } from "./exit-codes.ts";
import type { FlagName, Flags } from "./flags.ts";
import type { Terminal } from "./terminal.ts";

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
