// SPDX-License-Identifier: Apache-2.0
/**
 * TLS settings as servers take them: cipher suites and curves of which a server would not start are left out, which is what
 * is not secure and what nobody knows (sriov-operator.md H). Ours takes variables. Others are written in Go: suites by their
 * IANA names and for TLS 1.2 only, as Go lets nobody choose those of 1.3, and curves by their numbers (Go's crypto/tls).
 * Usage: `args: [...goTlsFlags(settings.tls), …]`.
 */
import type { TlsSettings } from "../component-settings.ts";
import type { ComponentProblem } from "../rendered-components.ts";

/** OpenSSL's names of TLS 1.2's secure suites, with IANA's. */
const suites = new Map([
  ["ECDHE-ECDSA-AES128-GCM-SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"],
  ["ECDHE-ECDSA-AES256-GCM-SHA384", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"],
  ["ECDHE-ECDSA-CHACHA20-POLY1305", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"],
  ["ECDHE-RSA-AES128-GCM-SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"],
  ["ECDHE-RSA-AES256-GCM-SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"],
  ["ECDHE-RSA-CHACHA20-POLY1305", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"],
]);

const ianaNames = new Set(suites.values());

/** TLS 1.3 has the same names everywhere. */
const latestSuites = new Set(["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"]);

const curves = new Map([
  ["secp256r1", 23],
  ["secp384r1", 24],
  ["secp521r1", 25],
  ["X25519", 29],
  ["X25519MLKEM768", 4588],
]);

/** Variables of our own server; undefined where its default holds. */
export function tlsVariables(settings: TlsSettings): Readonly<Record<string, string | undefined>> {
  return {
    TLS_MIN_VERSION: settings.minVersion,
    TLS_CIPHER_SUITES: settings.cipherSuites.filter(isSecureSuite).join(",") || undefined,
    TLS_CURVE_PREFERENCES: settings.curvePreferences.filter(isCurve).join(",") || undefined,
  };
}

export function goTlsFlags({ minVersion, cipherSuites }: TlsSettings): readonly string[] {
  const names = cipherSuites.map((name) => suites.get(name) ?? name).filter((name) => ianaNames.has(name));
  const isChosen = names.length > 0 && minVersion !== "VersionTLS13";
  return [
    ...(minVersion === undefined ? [] : [`--tls-min-version=${minVersion}`]),
    ...(isChosen ? [`--tls-cipher-suites=${[...new Set(names)].join(",")}`] : []),
  ];
}

/** Apart, as not every server has it. */
export function goCurveFlags({ curvePreferences }: TlsSettings): readonly string[] {
  const numbers = new Set(curvePreferences.flatMap((name) => curves.get(name) ?? []));
  return numbers.size === 0 ? [] : [`--tls-curve-preferences=${[...numbers].join(",")}`];
}

/** What is left out, by the variable of the operator that has it. */
export function tlsWarnings(settings: TlsSettings): readonly Pick<ComponentProblem, "field" | "message">[] {
  const unusable = {
    TLS_CIPHER_SUITES: settings.cipherSuites.filter((name) => !isSecureSuite(name)),
    TLS_CURVE_PREFERENCES: settings.curvePreferences.filter((name) => !isCurve(name)),
  };
  return Object.entries(unusable)
    .filter(([, names]) => names.length > 0)
    .map(([field, names]) => ({ field, message: `left out, as not secure or not known: ${names.join(", ")}` }));
}

function isSecureSuite(name: string): boolean {
  return suites.has(name) || ianaNames.has(name) || latestSuites.has(name);
}

function isCurve(name: string): boolean {
  return curves.has(name);
}
