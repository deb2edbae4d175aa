// SPDX-License-Identifier: Apache-2.0
/** ReleaseError is a failure whose message is for the person who runs the command. */

/** "usage": the command line is wrong. "failed": the work could not be done. */
type ReleaseErrorCode = "usage" | "failed";

export class ReleaseError extends Error {
  override readonly name = "ReleaseError";
  readonly code: ReleaseErrorCode;

  constructor(code: ReleaseErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
