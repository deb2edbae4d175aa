// SPDX-License-Identifier: Apache-2.0
/** Certificates as they are asked for and made. All texts are PEM. */

export interface CertificateRequest {
  /** DNS names or IP addresses that the server is called by; the first is its common name. */
  readonly names: readonly string[];
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** What a server shows. `cert` may be a chain, the server's own first. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface IssuedCertificate extends KeyPair {
  /** Who trusts this trusts the server. */
  readonly ca: string;
}
