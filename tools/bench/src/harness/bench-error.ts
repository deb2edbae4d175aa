// SPDX-License-Identifier: Apache-2.0
/**
 * The one error of this tool. Branch on `code`; the message is for people.
 * Usage: `throw new BenchError("usage", "--nodes x: not a whole number")`
 */

/** What went wrong, one word per cause. */
export const benchErrorCodes = {
  usage: "the command line is not understood",
  refused: "the API server refused a request of the harness",
  watch: "the harness's own watch broke off",
  ended: "the process under measurement ended by itself",
  late: "what was waited for did not come in time",
  stopped: "a person stopped the run",
  platform: "this machine lacks something: /proc, a tool",
  goals: "figures are worse than the goals, and --check was given",
} as const;

export type BenchErrorCode = keyof typeof benchErrorCodes;

/** A run that gives no figures, or not the wanted ones. */
export class BenchError extends Error {
  override readonly name = "BenchError";
  readonly code: BenchErrorCode;

  constructor(code: BenchErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
