// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { selfSignedCertificate } from "./self-signed.ts";

describe("selfSignedCertificate", () => {
  it("makes a certificate that its own key has signed and that is valid now", () => {
    const now = new Date("2026-11-28T12:00:00Z");
    const { cert, key } = selfSignedCertificate("config-daemon", now);
    const certificate = new X509Certificate(cert);
    expect(certificate.subject).toBe("CN=config-daemon");
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect(certificate.validFromDate.getTime()).toBeLessThan(now.getTime());
    expect(certificate.validToDate.getTime()).toBeGreaterThan(now.getTime() + 365 * 24 * 3_600_000);
  });
});
