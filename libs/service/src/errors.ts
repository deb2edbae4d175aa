// SPDX-License-Identifier: Apache-2.0
/**
 * ServiceError is the error class of this library, and isErrno recognises errors of system calls. Callers branch on `code`, never on
 * the message.
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

/** An error of a system call; `code` is the name of the errno. */
export type ErrnoError = Error & { readonly code: string; readonly syscall: string; readonly path?: string };

/**
 * isErrno recognises the errors that Node throws for refused system calls. Reports whether `thrown` is the error of a system
 * call, with one of `codes` if any are given. It looks at the fields, since `instanceof Error` is false for errors of another
 * realm, as in Jest.
 */
export function isErrno(thrown: unknown, ...codes: readonly string[]): thrown is ErrnoError {
  return (
    typeof thrown === "object" &&
    thrown !== null &&
    "code" in thrown &&
    typeof thrown.code === "string" &&
    "syscall" in thrown &&
    (codes.length === 0 || codes.includes(thrown.code))
  );
}
