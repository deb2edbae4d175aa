// SPDX-License-Identifier: Apache-2.0
/** The types of certificate requests and certificates. All texts are in PEM format. */

export interface CertificateRequest {
  /** DNS names and IP addresses of the server. The first becomes the common name. */
  readonly names: readonly string[];
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** A certificate with its key. `cert` can be a chain that starts with the server's certificate. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface IssuedCertificate extends KeyPair {
  /** Certificate of the CA that signed `cert`. */
  readonly ca: string;
}
