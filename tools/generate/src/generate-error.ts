// SPDX-License-Identifier: Apache-2.0
/** GenerateError reports that an interface cannot be converted to a schema. Callers must only branch on `code`. */

/** A CRD cannot express the interface. `at` is the path of the field: "SriovNetworkNodePolicy.spec.mtu". */
export class GenerateError extends Error {
  override readonly name = "GenerateError";
  /** NO_HELP: a program does not print its flags; NO_VERSION: the version is missing or malformed. `at` is the file. */
  readonly code: "NOT_STRUCTURAL" | "NO_HELP" | "NO_VERSION";
  readonly at: string;

  constructor(code: GenerateError["code"], at: string, message: string) {
    super(`${at} ${message}`);
    this.code = code;
    this.at = at;
  }
}
