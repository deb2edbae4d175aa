// SPDX-License-Identifier: Apache-2.0
/** A verb of the command line: what help says of it, and where its code is. */
import type { ExitCode } from "./exit-codes.ts";
import type { FlagName, Flags } from "./flags.ts";
import type { Terminal } from "./terminal.ts";

export interface Verb {
  readonly name: string;
  /** One line. */
  readonly summary: string;
  /** What stands after the name, before the flags: "KIND[.FIELD]". */
  readonly operands?: string;
  /** Paragraphs below the summary, each one line, which help wraps. */
  readonly about: readonly string[];
  readonly examples: readonly string[];
  /** --help is understood. */
  readonly flags: readonly FlagName[];
  /** Values that the operand can have, for completion. */
  readonly operandChoices?: readonly string[];
  /** Loads the code: a verb pays at its start for what it needs only. */
  readonly load: () => Promise<RunVerb>;
}

export interface Call {
  readonly flags: Flags;
  readonly operands: readonly string[];
  readonly terminal: Terminal;
}

/** Throws CliError for what ends the command early. */
export type RunVerb = (call: Call) => Promise<ExitCode>;
