// SPDX-License-Identifier: Apache-2.0

/**
 * What went wrong on the connection to the container runtime. After all but MALFORMED_PAYLOAD the connection is closed.
 *
 * - MALFORMED: bytes that are no frame, or a frame that does not belong there.
 * - MALFORMED_PAYLOAD: a request whose message is malformed. It is answered with INVALID_ARGUMENT.
 * - TOO_LONG: a frame or a list that is longer than the protocol allows.
 * - UNKNOWN_STREAM: a frame for a stream or a connection that does not exist.
 * - REFUSED: the runtime does not accept the plugin.
 * - TIMED_OUT: the runtime has not answered in time.
 * - CLOSED: the runtime has closed the connection.
 */
export type NriErrorCode =
  "MALFORMED" | "MALFORMED_PAYLOAD" | "TOO_LONG" | "UNKNOWN_STREAM" | "REFUSED" | "TIMED_OUT" | "CLOSED";

/** NriError is an error of this library. Its message quotes nothing that was received, because that can be anything. */
export class NriError extends Error {
  override readonly name = "NriError";
  readonly code: NriErrorCode;

  constructor(code: NriErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
