// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { parseFlags } from "@switchyard/service";
import { webhookFlags } from "./webhook-flags.ts";

describe("webhookFlags", () => {
  it("use upstream's port and environment variables", () => {
    const env = { TLS_MIN_VERSION: "VersionTLS13", TLS_CURVE_PREFERENCES: "X25519,secp256r1", DEV_MODE: "TRUE" };
    const parsed = parseFlags(webhookFlags, [], env);
    expect(parsed).toMatchObject({
      kind: "run",
      values: {
        listenAddress: { host: "", port: 6443 },
        tlsMinVersion: "TLSv1.3",
        tlsCurvePreferences: ["X25519", "P-256"],
        devMode: true,
        tlsCertFile: "/etc/tls/tls.crt",
        tlsPrivateKeyFile: "/etc/tls/tls.key",
      },
    });
  });

  it("refuse insecure settings", () => {
    for (const env of [{ TLS_MIN_VERSION: "VersionTLS10" }, { TLS_CIPHER_SUITES: "TLS_RSA_WITH_RC4_128_SHA" }]) {
      expect(parseFlags(webhookFlags, [], env)).toMatchObject({ kind: "invalid", problem: { code: "bad-value" } });
    }
  });
});
