// SPDX-License-Identifier: Apache-2.0
/**
 * What ends a command early, with one line for the user.
 * Usage: `throw new CliError("usage", "unknown flag --colour")`.
 */

/** usage: the command line is wrong. unavailable: what it names cannot be had. */
export type CliErrorCode = "usage" | "unavailable";

export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: CliErrorCode;

  constructor(code: CliErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}
