// SPDX-License-Identifier: Apache-2.0
/**
 * Why something cannot be generated. Branch on `code` only.
 */

/** The sources ask for what a CRD cannot say. `at` is the field: "SriovNetworkNodePolicy.spec.mtu". */
export class GenerateError extends Error {
  override readonly name = "GenerateError";
  readonly code: "NOT_STRUCTURAL";
  readonly at: string;

  constructor(code: GenerateError["code"], at: string, message: string) {
    super(`${at} ${message}`);
    this.code = code;
    this.at = at;
  }
}
