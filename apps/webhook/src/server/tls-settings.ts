// SPDX-License-Identifier: Apache-2.0
/**
 * TlsSettings are the minimum version, cipher suites and curves of TLS, with the names that upstream's environment variables
 * use (sriov-operator.md H). TLS below 1.2 and suites without forward secrecy or authenticated encryption are not available.
 */
import { defined } from "@switchyard/api";
import type { FlagKind } from "@switchyard/service";
import type { SecureContextOptions } from "node:tls";

/** OpenSSL names of the suites by IANA name. */
const suites = new Map([
  ["TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"],
  ["TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"],
  ["TLS_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256"],
  ["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"],
  ["TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"],
  ["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"],
  ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"],
  ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"],
  ["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"],
]);

const secure = new Set(suites.values());

/** OpenSSL names of the curves by their names in upstream's environment variables. */
const curveNames = new Map([
  ["X25519", "X25519"],
  ["secp256r1", "P-256"],
  ["secp384r1", "P-384"],
  ["secp521r1", "P-521"],
  ["X25519MLKEM768", "X25519MLKEM768"],
]);

/** OpenSSL names of the suites to use, and the requested names that are not available. */
export interface CipherChoice {
  readonly suites: readonly string[];
  readonly dropped: readonly string[];
}

export interface TlsSettings {
  readonly minVersion: "TLSv1.2" | "TLSv1.3";
  readonly ciphers: CipherChoice | undefined;
  readonly curves: readonly string[] | undefined;
}

/** "VersionTLS12" or "VersionTLS13"; also "TLSv1.2" or "1.2". */
export const tlsVersion: FlagKind<"TLSv1.2" | "TLSv1.3"> = {
  placeholder: "VersionTLS12|VersionTLS13",
  expected: "VersionTLS12 or VersionTLS13",
  parse: (text) => {
    const [, minor] = /^(?:VersionTLS1|TLSv1\.|1\.)([23])$/.exec(text) ?? [];
    return minor === undefined ? undefined : minor === "2" ? "TLSv1.2" : "TLSv1.3";
  },
};

/** IANA or OpenSSL names separated by commas. Insecure suites are dropped; at least one must remain. */
export const cipherSuites: FlagKind<CipherChoice> = {
  placeholder: "SUITE,SUITE",
  expected: `a comma-separated list with at least one of ${[...suites.keys()].join(", ")}`,
  parse: (text) => {
    const names = splitList(text);
    const requested = names.map((name) => ({ name, suite: suites.get(name) ?? (secure.has(name) ? name : undefined) }));
    const chosen = requested.flatMap(({ suite }) => suite ?? []);
    const dropped = requested.flatMap(({ name, suite }) => (suite === undefined ? [name] : []));
    return chosen.length === 0 ? undefined : { suites: chosen, dropped };
  },
};

/** Names of curves separated by commas, in order of preference. */
export const curvePreferences: FlagKind<readonly string[]> = {
  placeholder: "CURVE,CURVE",
  expected: `a comma-separated list of ${[...curveNames.keys()].join(", ")}`,
  parse: (text) => {
    const names = splitList(text);
    const curves = names.flatMap((name) => curveNames.get(name) ?? []);
    return curves.length === 0 || curves.length < names.length ? undefined : curves;
  },
};

/** The settings as options of Node. */
export function toTlsOptions({ minVersion, ciphers, curves }: TlsSettings): SecureContextOptions {
  return {
    minVersion,
    ciphers: (ciphers?.suites ?? [...secure]).join(":"),
    ...defined({ ecdhCurve: curves?.join(":") }),
  };
}

function splitList(text: string): readonly string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
