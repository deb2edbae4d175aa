// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { getCiphers } from "node:tls";
import type { TlsSettings } from "../component-settings.ts";
import { goCurveFlags, goTlsFlags, tlsVariables, tlsWarnings } from "./tls-flags.ts";

const nothing: TlsSettings = { cipherSuites: [], curvePreferences: [] };

describe("goTlsFlags", () => {
  it.each([
    { does: "returns no flags without settings", tls: {}, flags: [] },
    {
      does: "accepts OpenSSL and IANA names, and omits suites that are insecure or of TLS 1.3",
      tls: {
        cipherSuites: [
          "TLS_AES_128_GCM_SHA256",
          "ECDHE-RSA-AES128-GCM-SHA256",
          "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
          "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
          "AES128-SHA",
        ],
      },
      flags: [
        "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
      ],
    },
    {
      does: "omits suites if the minimum is TLS 1.3, which Go rejects",
      tls: { minVersion: "VersionTLS13", cipherSuites: ["ECDHE-RSA-AES128-GCM-SHA256"] },
      flags: ["--tls-min-version=VersionTLS13"],
    },
    {
      does: "omits the flag if no suite is left, because the server would not start",
      tls: { minVersion: "VersionTLS12", cipherSuites: ["AES128-SHA"] },
      flags: ["--tls-min-version=VersionTLS12"],
    },
  ] as const)("$does", ({ tls, flags }) => {
    expect(goTlsFlags({ ...nothing, ...tls })).toEqual(flags);
  });
});

describe("every suite and curve of upstream", () => {
  const pairs = ["ECDSA", "RSA"].flatMap((key) => [
    [`ECDHE-${key}-AES128-GCM-SHA256`, `TLS_ECDHE_${key}_WITH_AES_128_GCM_SHA256`],
    [`ECDHE-${key}-AES256-GCM-SHA384`, `TLS_ECDHE_${key}_WITH_AES_256_GCM_SHA384`],
    [`ECDHE-${key}-CHACHA20-POLY1305`, `TLS_ECDHE_${key}_WITH_CHACHA20_POLY1305_SHA256`],
  ]);
  const latest = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];
  const curvePreferences = ["secp256r1", "secp384r1", "secp521r1", "X25519", "X25519MLKEM768"];

  it.each(pairs)("has a name for Go servers: %s is %s", (openssl = "", iana = "") => {
    for (const name of [openssl, iana]) {
      const flags = goTlsFlags({ cipherSuites: [name], curvePreferences: [] });
      expect(flags).toEqual([`--tls-cipher-suites=${iana}`]);
    }
  });

  it("is accepted", () => {
    expect(tlsWarnings({ cipherSuites: [...pairs.flat(), ...latest], curvePreferences })).toEqual([]);
    expect(goCurveFlags({ cipherSuites: [], curvePreferences })).toEqual(["--tls-curve-preferences=23,24,25,29,4588"]);
  });

  it("exists in Node's OpenSSL", () => {
    const known = new Set(getCiphers());
    const openssl = [...pairs.map(([name = ""]) => name), ...latest];
    expect(openssl.filter((name) => !known.has(name.toLowerCase()))).toEqual([]);
  });
});

describe("goCurveFlags", () => {
  it("returns the numbers of curves in the given order, each once", () => {
    const curvePreferences = ["X25519MLKEM768", "X25519", "unknown", "secp256r1", "X25519"];
    expect(goCurveFlags({ ...nothing, curvePreferences })).toEqual(["--tls-curve-preferences=4588,29,23"]);
    expect(goCurveFlags(nothing)).toEqual([]);
  });
});

describe("TLS settings with unusable names", () => {
  const tls: TlsSettings = {
    minVersion: "VersionTLS12",
    cipherSuites: ["TLS_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "AES128-SHA", "typo"],
    curvePreferences: ["X25519", "P-999"],
  };

  it("result in variables with the usable names, in the given order", () => {
    expect(tlsVariables(tls)).toEqual({
      TLS_MIN_VERSION: "VersionTLS12",
      TLS_CIPHER_SUITES: "TLS_AES_128_GCM_SHA256,ECDHE-RSA-AES128-GCM-SHA256",
      TLS_CURVE_PREFERENCES: "X25519",
    });
  });

  it("result in no variables if no name is usable", () => {
    const none = tlsVariables({ cipherSuites: ["AES128-SHA"], curvePreferences: ["P-999"] });
    expect(Object.values(none)).toEqual([undefined, undefined, undefined]);
  });

  it("result in warnings with all unusable names", () => {
    expect(tlsWarnings(tls)).toEqual([
      { field: "TLS_CIPHER_SUITES", message: "ignored, because insecure or unknown: AES128-SHA, typo" },
      { field: "TLS_CURVE_PREFERENCES", message: "ignored, because insecure or unknown: P-999" },
    ]);
    expect(tlsWarnings(nothing)).toEqual([]);
  });
});
