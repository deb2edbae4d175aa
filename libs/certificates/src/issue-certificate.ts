// SPDX-License-Identifier: Apache-2.0
/**
 * Makes a certificate. What that takes, 20 MB, is loaded only when one is due, which is every 60 days.
 * Usage: `const { ca, cert, key } = await issueCertificate({ names, notBefore, notAfter })`.
 */
import type { CertificateRequest, IssuedCertificate } from "./issued-certificate.ts";

/** With an authority of its own, which signs nothing else. */
export async function issueCertificate(request: CertificateRequest): Promise<IssuedCertificate> {
  const { signCertificate } = await import("./sign-certificate.ts");
  return signCertificate(request);
}
