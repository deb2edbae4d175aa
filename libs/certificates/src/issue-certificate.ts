// SPDX-License-Identifier: Apache-2.0
/**
 * issueCertificate makes a key, a CA and a certificate. The code for it takes 20 MB and is loaded only when a certificate
 * is due, every 60 days.
 * Usage: `const { ca, cert, key } = await issueCertificate({ names, notBefore, notAfter })`.
 */
import type { CertificateRequest, IssuedCertificate } from "./issued-certificate.ts";

/** The CA is new and signs only this certificate. */
export async function issueCertificate(request: CertificateRequest): Promise<IssuedCertificate> {
  const { signCertificate } = await import("./sign-certificate.ts");
  return signCertificate(request);
}
