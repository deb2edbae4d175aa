// SPDX-License-Identifier: Apache-2.0
/**
 * FuzzTarget describes a reader of bytes from others for `npm run e2e -- fuzz` (e2e/fuzz), and has the checks that targets share.
 * A file `NAME.fuzz.ts` beside the reader exports `targets`; e2e/fuzz/fuzz-files.ts lists these files.
 */
import { inspect, isDeepStrictEqual } from "node:util";

/** A reader with its oracle. */
export interface FuzzTarget {
  /** Name of the folder of its corpus: "kubeconfig". */
  readonly name: string;
  /** Inputs from which the first mutations are made. They are replayed in each test run, as the corpus is. */
  readonly seeds: readonly (string | Uint8Array)[];
  /** Words of the format that are not in the sources: "apiVersion". */
  readonly words?: readonly string[];
  /**
   * Reads the input as the program does, and throws if the reader does what it must not do. The errors that are documented are caught here.
   * Work in the background must have ended when the promise resolves.
   */
  readonly run: (input: Buffer) => void | Promise<void>;
}

/** What a target throws if the reader has broken a rule. */
export class FuzzFinding extends Error {
  override readonly name = "FuzzFinding";
}

/** Calls a reader, and returns its result, or the error if `isDocumented` accepts it. Throws any other error. */
export function catchDocumented<Value>(
  read: () => Value,
  isDocumented: (error: unknown) => boolean,
): { readonly value: Value } | { readonly error: unknown } {
  try {
    return { value: read() };
  } catch (error) {
    if (isDocumented(error)) return { error };
    throw error;
  }
}

/** A secret that seeds contain. Texts of errors must not. */
export const fuzzSecret = "SECRET7f3a9c";

/** Throws FuzzFinding if the secret is in a text, or anywhere in an error: its message, stack, causes and fields. */
export function refuseSecret(shown: unknown): void {
  const text =
    typeof shown === "string" ? shown : inspect(shown, { depth: 8, maxStringLength: null, showHidden: true });
  if (text.includes(fuzzSecret)) throw new FuzzFinding("an error or a text quotes what was read, with its secrets");
}

/** Throws FuzzFinding unless both values are equal. `what` names the two readers. */
export function requireEqual(what: string, one: unknown, other: unknown): void {
  if (isDeepStrictEqual(one, other)) return;
  const show = (value: unknown): string => inspect(value, { depth: 4 }).slice(0, 300);
  throw new FuzzFinding(`${what} differ: ${show(one)} and ${show(other)}`);
}
