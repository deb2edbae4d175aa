// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createSecureContext } from "node:tls";
import { cipherSuites, curvePreferences, tlsVersion, toTlsOptions } from "./tls-settings.ts";

describe("TLS settings", () => {
  it.each([
    { text: "VersionTLS12", version: "TLSv1.2" },
    { text: "VersionTLS13", version: "TLSv1.3" },
    { text: "1.3", version: "TLSv1.3" },
    { text: "VersionTLS11", version: undefined },
    { text: "VersionTLS10", version: undefined },
    { text: "", version: undefined },
  ])("read $text as $version", ({ text, version }) => {
    expect(tlsVersion.parse(text)).toBe(version);
  });

  it("accept both names of suites, and drop insecure ones", () => {
    const text = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, ECDHE-ECDSA-AES256-GCM-SHA384,TLS_RSA_WITH_AES_128_CBC_SHA";
    expect(cipherSuites.parse(text)).toEqual({
      suites: ["ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384"],
      dropped: ["TLS_RSA_WITH_AES_128_CBC_SHA"],
    });
    expect(cipherSuites.parse("RC4-SHA,AES128-SHA")).toBeUndefined();
  });

  it("are known to Node's OpenSSL", () => {
    const curves = curvePreferences.parse("X25519MLKEM768,X25519,secp256r1,secp384r1,secp521r1");
    expect(curves).toHaveLength(5);
    expect(curvePreferences.parse("X25519,secp160k1")).toBeUndefined();
    createSecureContext(toTlsOptions({ minVersion: "TLSv1.2", ciphers: undefined, curves }));
  });
});
