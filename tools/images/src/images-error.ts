// SPDX-License-Identifier: Apache-2.0
/** ImagesError is the only error class of this tool. Its message says what to do. Branch on `code` only. */

type ImagesErrorCode =
  /** An option or argument is invalid. */
  | "bad-option"
  /** A program or a right is missing on this machine. */
  | "missing-requirement"
  /** A package cannot be downloaded, or is not the one in the lock file. */
  | "package-unavailable"
  /** The content of an image is not as expected. */
  | "unexpected-content";

export class ImagesError extends Error {
  override readonly name = "ImagesError";
  readonly code: ImagesErrorCode;

  constructor(code: ImagesErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
