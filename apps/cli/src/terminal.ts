// SPDX-License-Identifier: Apache-2.0
/** What a command reads and writes; `process` is one, tests bring their own. */

export interface Terminal {
  readonly stdin: AsyncIterable<Uint8Array | string>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  /** Width, where it is a TTY. */
  readonly columns?: number | undefined;
}
