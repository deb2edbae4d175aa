// SPDX-License-Identifier: Apache-2.0
/**
 * BenchError is the only error class of the benchmarks. Branch on `code`; the message is for people.
 * Usage: `throw new BenchError("usage", "--nodes must be a whole number")`
 */

/** The codes and their meanings. */
export const benchErrorCodes = {
  usage: "the command line is invalid",
  refused: "the API server refused a request of the harness",
  watch: "a watch of the harness failed",
  ended: "the measured process ended unexpectedly",
  late: "a wait reached its time limit",
  wrong: "a measured program returned a wrong result",
  stopped: "the user stopped the run",
  platform: "this machine lacks something that the run needs, such as /proc or a tool",
  goals: "a goal is missed, and --check was given",
} as const;

export type BenchErrorCode = keyof typeof benchErrorCodes;

/** A run without figures, or with a missed goal. */
export class BenchError extends Error {
  override readonly name = "BenchError";
  readonly code: BenchErrorCode;

  constructor(code: BenchErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
