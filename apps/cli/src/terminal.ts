// SPDX-License-Identifier: Apache-2.0
/** Terminal is the standard input, output and environment of a command. `process` is one; tests use their own. */

export interface Terminal {
  readonly stdin: AsyncIterable<Uint8Array | string>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  /** The width of a TTY. */
  readonly columns?: number | undefined;
}
