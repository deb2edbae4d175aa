// SPDX-License-Identifier: Apache-2.0

/** A message that is no protobuf message, or not of the expected type. */
export class ProtobufError extends Error {
  override readonly name = "ProtobufError";
  readonly code = "MALFORMED_MESSAGE";

  constructor(problem: string) {
    super(`malformed protobuf message: ${problem}`);
  }
}
