// SPDX-License-Identifier: Apache-2.0
/** CommandError is the reason why a command of the operator's program cannot do its work. */

export type CommandErrorCode =
  /** The directory of CustomResourceDefinitions, or a file in it, cannot be read or contains something else. */
  | "CRDS_UNREADABLE"
  /** The time limit is over. The message says what the command waited for. */
  | "TIMED_OUT";

/** Branch on `code`, never on the message. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly code: CommandErrorCode;

  constructor(code: CommandErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
