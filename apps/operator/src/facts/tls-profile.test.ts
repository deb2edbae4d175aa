// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { readTlsProfile, type ApiServerConfig } from "./tls-profile.ts";

function profile(spec: ApiServerConfig["spec"]) {
  const metadata = { name: "cluster" };
  return readTlsProfile({ apiVersion: "config.openshift.io/v1", kind: "APIServer", metadata, ...(spec && { spec }) });
}

const strict = "StrictAllComponents";

describe("readTlsProfile", () => {
  it("applies only if it is required for all components", () => {
    const tlsSecurityProfile = { type: "Modern", modern: {} };
    expect(profile(undefined)).toBeUndefined();
    expect(profile({ tlsSecurityProfile })).toBeUndefined();
    expect(profile({ tlsSecurityProfile, tlsAdherence: "LegacyAdheringComponentsOnly" })).toBeUndefined();
    expect(profile({ tlsSecurityProfile, tlsAdherence: strict })?.minVersion).toBe("VersionTLS13");
  });

  it("returns Intermediate if no profile is named, and for Old, whose secure part is the same", () => {
    const secure = profile({ tlsAdherence: strict });
    expect(secure?.minVersion).toBe("VersionTLS12");
    expect(secure?.cipherSuites).toContain("ECDHE-RSA-AES128-GCM-SHA256");
    expect(profile({ tlsAdherence: strict, tlsSecurityProfile: { type: "Old", old: {} } })).toEqual(secure);
  });

  it("keeps the secure part of a custom list, and at least TLS 1.2", () => {
    const custom = { ciphers: ["ECDHE-RSA-AES128-GCM-SHA256", "DES-CBC3-SHA"], minTLSVersion: "VersionTLS10" };
    expect(profile({ tlsAdherence: strict, tlsSecurityProfile: { type: "Custom", custom } })).toMatchObject({
      minVersion: "VersionTLS12",
      cipherSuites: ["ECDHE-RSA-AES128-GCM-SHA256"],
    });
    const latest = { ciphers: ["TLS_AES_128_GCM_SHA256"], minTLSVersion: "VersionTLS13" };
    expect(profile({ tlsAdherence: strict, tlsSecurityProfile: { type: "Custom", custom: latest } })).toMatchObject({
      minVersion: "VersionTLS13",
      cipherSuites: ["TLS_AES_128_GCM_SHA256"],
    });
    const nothing = { ciphers: ["DES-CBC3-SHA"], minTLSVersion: "VersionTLS11" };
    const answer = profile({ tlsAdherence: strict, tlsSecurityProfile: { type: "Custom", custom: nothing } });
    expect(answer?.cipherSuites.length).toBeGreaterThan(1);
  });
});
