// SPDX-License-Identifier: Apache-2.0
/** What a verb of `npm run release` is, and what it gets. */

export interface FlagHelp {
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
