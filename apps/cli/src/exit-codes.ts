// SPDX-License-Identifier: Apache-2.0
/** exitCodes are the exit codes of the process. */

export const exitCodes = {
  done: 0,
  /** An object was rejected, a policy cannot be applied, or a file cannot be read. */
  no: 1,
  /** A plan has steps, with --detailed-exitcode. */
  changes: 2,
  usage: 64,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
