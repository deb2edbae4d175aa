// SPDX-License-Identifier: Apache-2.0
/**
 * isErrno recognises the errors that Node throws for refused system calls.
 * Usage: `if (!isErrno(error, "ENOENT", "ENOTDIR")) throw error`.
 */

/** An error of a system call; `code` is the name of the errno. */
export type ErrnoError = Error & { readonly code: string; readonly syscall: string };

/**
 * Reports whether `thrown` is the error of a system call, with one of `codes` if any are given. It looks at the fields,
 * since `instanceof Error` is false for errors of another realm, as in Jest.
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
