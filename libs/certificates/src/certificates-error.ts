// SPDX-License-Identifier: Apache-2.0
/** What this library refuses to do. Branch on `code` only. */
export class CertificatesError extends Error {
  override readonly name = "CertificatesError";
  /** The Secret has a certificate that was not made here. */
  readonly code: "ForeignSecret";
  /** "namespace/name" */
  readonly secret: string;

  constructor(code: CertificatesError["code"], secret: string) {
    super(`Secret ${secret} has a certificate that somebody else made: delete it, or name its authority`);
    this.code = code;
    this.secret = secret;
  }
}
