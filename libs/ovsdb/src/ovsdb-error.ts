// SPDX-License-Identifier: Apache-2.0
/**
 * The error class of this library. Branch on `code`; the message is for people and may change.
 * Usage: `if (isOvsdbError(error, "disconnected")) return;`
 */

/**
 * - `endpoint`: the text is not an endpoint.
 * - `connect`: the server could not be reached.
 * - `disconnected`: there is no connection, or it was lost before the reply came. A transaction that was sent may have
 *   been committed.
 * - `aborted`: the caller's signal was aborted before the reply came. As above, a transaction may have been committed.
 * - `protocol`: the server sent something that is not OVSDB, or the request cannot be sent as OVSDB.
 * - `refused`: the server answered a request with an error; `details.error` is its text, such as "unknown method".
 * - `schema`: the database lacks a table or column, or a column has another type.
 * - `transaction`: at least one operation failed, and nothing was changed; `details.failures` has the operations.
 * - `closed`: the client was disposed of.
 */
export type OvsdbErrorCode =
  "endpoint" | "connect" | "disconnected" | "aborted" | "protocol" | "refused" | "schema" | "transaction" | "closed";

/** An operation of a transaction that the server refused (RFC 7047, 4.1.3). */
export interface OperationFailure {
  /** Position in the transaction. The number of operations, if the commit failed. */
  readonly index: number;
  /** The server's error, such as "constraint violation". */
  readonly error: string;
  /** The server's explanation, or "". */
  readonly details: string;
}

export interface OvsdbErrorDetails {
  /** The server's error text, with code `refused`. */
  readonly error?: string;
  readonly failures?: readonly OperationFailure[];
  readonly cause?: unknown;
}

export class OvsdbError extends Error {
  override readonly name = "OvsdbError";
  readonly code: OvsdbErrorCode;
  /** The server's error text, with code `refused`. */
  readonly error: string | undefined;
  /** The operations that failed, with code `transaction`; otherwise empty. */
  readonly failures: readonly OperationFailure[];

  constructor(code: OvsdbErrorCode, message: string, details: OvsdbErrorDetails = {}) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.code = code;
    this.error = details.error;
    this.failures = details.failures ?? [];
  }
}

/** Whether `error` is an OvsdbError with one of `codes`, or any OvsdbError if no code is given. */
export function isOvsdbError(error: unknown, ...codes: readonly OvsdbErrorCode[]): error is OvsdbError {
  return error instanceof OvsdbError && (codes.length === 0 || codes.includes(error.code));
}
