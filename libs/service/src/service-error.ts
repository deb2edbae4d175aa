// SPDX-License-Identifier: Apache-2.0
/**
 * The errors of this lib. Branch on `code` only.
 */

/** BAD_FLAG_DEFAULT is a bug in a flag's definition; LISTEN_FAILED has the system's error as its cause. */
export type ServiceErrorCode = "BAD_FLAG_DEFAULT" | "LISTEN_FAILED";

/** What kept a process from starting. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: ServiceErrorCode;

  constructor(code: ServiceErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
