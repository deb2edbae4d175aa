// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { TlsSettings } from "./component-settings.ts";
import { goCurveFlags, goTlsFlags } from "./tls-flags.ts";

const nothing: TlsSettings = { cipherSuites: [], curvePreferences: [] };

describe("goTlsFlags", () => {
  it.each([
    { does: "says nothing where nothing is asked for", tls: {}, flags: [] },
    {
      does: "takes names of OpenSSL and of IANA, and leaves out what is not secure or of TLS 1.3",
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
      does: "chooses no suites for TLS 1.3, which Go refuses",
      tls: { minVersion: "VersionTLS13", cipherSuites: ["ECDHE-RSA-AES128-GCM-SHA256"] },
      flags: ["--tls-min-version=VersionTLS13"],
    },
    {
      does: "asks for TLS 1.2 at least",
      tls: { minVersion: "VersionTLS10" },
      flags: ["--tls-min-version=VersionTLS12"],
    },
  ])("$does", ({ tls, flags }) => {
    expect(goTlsFlags({ ...nothing, ...tls })).toEqual(flags);
  });
});

describe("goCurveFlags", () => {
  it("numbers curves in the given order, each once", () => {
    const curvePreferences = ["X25519MLKEM768", "X25519", "unknown", "secp256r1", "X25519"];
    expect(goCurveFlags({ ...nothing, curvePreferences })).toEqual(["--tls-curve-preferences=4588,29,23"]);
    expect(goCurveFlags(nothing)).toEqual([]);
  });
});
