// SPDX-License-Identifier: Apache-2.0
/**
 * CliError ends a command with one line on stderr.
 * Usage: `const error = new CliError("usage", "unknown flag --colour")`.
 */

/** usage: the command line is invalid. unavailable: something that it names does not exist or cannot be read. */
export type CliErrorCode = "usage" | "unavailable";

export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: CliErrorCode;

  constructor(code: CliErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}
