// SPDX-License-Identifier: Apache-2.0
/**
 * ServiceError is the error class of this library. Callers branch on `code`, never on the message.
 */

/** BAD_FLAG_DEFAULT is a bug in the definition of a flag. LISTEN_FAILED has the error of the system call as its cause. */
export type ServiceErrorCode = "BAD_FLAG_DEFAULT" | "LISTEN_FAILED";

/** Why a process could not start. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: ServiceErrorCode;

  constructor(code: ServiceErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
