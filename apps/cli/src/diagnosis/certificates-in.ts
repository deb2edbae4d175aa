// SPDX-License-Identifier: Apache-2.0
/**
 * certificatesIn reads the certificates of a CA bundle or of a Secret: PEM in base64.
 * Usage: `const [leaf] = certificatesIn(secret.data["tls.crt"]);`
 */
import { X509Certificate } from "node:crypto";

/** A certificate that expires within this time should have been renewed. */
export const expiresSoonMs = 14 * 24 * 60 * 60_000;

/** What is no certificate is left out. */
export function certificatesIn(base64: string): readonly X509Certificate[] {
  const text = Buffer.from(base64, "base64").toString("latin1");
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.flatMap((pem) => {
    try {
      return [new X509Certificate(pem)];
    } catch {
      return [];
    }
  });
}
