// SPDX-License-Identifier: Apache-2.0
/** What the process ends with. */

export const exitCodes = {
  done: 0,
  /** The answer is "no": an object rejected, a policy that cannot be applied, a file that cannot be read. */
  no: 1,
  /** A plan that is not empty, under --detailed-exitcode. */
  changes: 2,
  usage: 64,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
