// SPDX-License-Identifier: Apache-2.0
/** GenerateError reports what cannot be generated. Callers must only branch on `code`. */

/** The sources lack something, or a CRD cannot express an interface: then `at` is the path of the field: "SriovNetworkNodePolicy.spec.mtu". */
export class GenerateError extends Error {
  override readonly name = "GenerateError";
  /**
   * NO_TEXT: a field, a reason, a finding, a metric or an alert has no text for the reference; `at` is its name. NO_HELP: a program does not print its flags; NO_VERSION: the version is missing or malformed; `at` is the file.
   */
  readonly code: "NOT_STRUCTURAL" | "NO_TEXT" | "NO_HELP" | "NO_VERSION";
  readonly at: string;

  constructor(code: GenerateError["code"], at: string, message: string) {
    super(`${at} ${message}`);
    this.code = code;
    this.at = at;
  }
}
