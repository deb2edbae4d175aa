// SPDX-License-Identifier: Apache-2.0
/**
 * TLS settings in the form of the servers' flags and environment variables. Cipher suites and curves that are insecure
 * or unknown are omitted, because a server would not start with them (sriov-operator.md H). The webhook takes
 * environment variables. The other servers are written in Go: they take IANA names of TLS 1.2 cipher suites, since
 * those of TLS 1.3 cannot be configured, and numbers of curves (Go's crypto/tls).
 */
import type { TlsSettings } from "../component-settings.ts";
import type { ComponentProblem } from "../rendered-components.ts";

/** The secure cipher suites of TLS 1.2: OpenSSL names with IANA names. */
const suites = new Map([
  ["ECDHE-ECDSA-AES128-GCM-SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"],
  ["ECDHE-ECDSA-AES256-GCM-SHA384", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"],
  ["ECDHE-ECDSA-CHACHA20-POLY1305", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"],
  ["ECDHE-RSA-AES128-GCM-SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"],
  ["ECDHE-RSA-AES256-GCM-SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"],
  ["ECDHE-RSA-CHACHA20-POLY1305", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"],
]);

const ianaNames = new Set(suites.values());

/** The cipher suites of TLS 1.3. Their IANA and OpenSSL names are the same. */
const latestSuites = new Set(["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"]);

const curves = new Map([
  ["secp256r1", 23],
  ["secp384r1", 24],
  ["secp521r1", 25],
  ["X25519", 29],
  ["X25519MLKEM768", 4588],
]);

/** Returns the environment variables of the webhook. Undefined means the server's default. */
export function tlsVariables(settings: TlsSettings): Readonly<Record<string, string | undefined>> {
  return {
    TLS_MIN_VERSION: settings.minVersion,
    TLS_CIPHER_SUITES: settings.cipherSuites.filter(isSecureSuite).join(",") || undefined,
    TLS_CURVE_PREFERENCES: settings.curvePreferences.filter(isCurve).join(",") || undefined,
  };
}

/** Returns the flags of a Go server for version and cipher suites. */
export function goTlsFlags({ minVersion, cipherSuites }: TlsSettings): readonly string[] {
  const names = cipherSuites.map((name) => suites.get(name) ?? name).filter((name) => ianaNames.has(name));
  const isChosen = names.length > 0 && minVersion !== "VersionTLS13";
  return [
    ...(minVersion === undefined ? [] : [`--tls-min-version=${minVersion}`]),
    ...(isChosen ? [`--tls-cipher-suites=${[...new Set(names)].join(",")}`] : []),
  ];
}

/** Returns the flag of a Go server for curves, which not all servers have. */
export function goCurveFlags({ curvePreferences }: TlsSettings): readonly string[] {
  const numbers = new Set(curvePreferences.flatMap((name) => curves.get(name) ?? []));
  return numbers.size === 0 ? [] : [`--tls-curve-preferences=${[...numbers].join(",")}`];
}

/** Returns a warning for each environment variable of the operator that has insecure or unknown names. */
export function tlsWarnings(settings: TlsSettings): readonly Pick<ComponentProblem, "field" | "message">[] {
  const unusable = {
    TLS_CIPHER_SUITES: settings.cipherSuites.filter((name) => !isSecureSuite(name)),
    TLS_CURVE_PREFERENCES: settings.curvePreferences.filter((name) => !isCurve(name)),
  };
  return Object.entries(unusable)
    .filter(([, names]) => names.length > 0)
    .map(([field, names]) => ({ field, message: `ignored, because insecure or unknown: ${names.join(", ")}` }));
}

function isSecureSuite(name: string): boolean {
  return suites.has(name) || ianaNames.has(name) || latestSuites.has(name);
}

function isCurve(name: string): boolean {
  return curves.has(name);
}
