// SPDX-License-Identifier: Apache-2.0
/** The error class of this library. Branch on `code`, never on the message. */
export class CertificatesError extends Error {
  override readonly name = "CertificatesError";
  /** "ForeignSecret": the Secret has a certificate that Switchyard did not issue. */
  readonly code: "ForeignSecret";
  /** "namespace/name" */
  readonly secret: string;

  constructor(code: CertificatesError["code"], secret: string) {
    super(
      `Secret ${secret} has a certificate that Switchyard did not issue; delete the Secret, or configure the CA certificate of its issuer`,
    );
    this.code = code;
    this.secret = secret;
  }
}
