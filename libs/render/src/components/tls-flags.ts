// SPDX-License-Identifier: Apache-2.0
/**
 * TLS settings as servers of others take them, which are written in Go: cipher suites by their IANA names and for TLS 1.2
 * only, as Go lets nobody choose those of 1.3, and curves by their numbers (Go's crypto/tls). What is not secure, and what
 * nobody knows, is left out: such a server would not start (sriov-operator.md H).
 * Usage: `args: [...goTlsFlags(settings.tls), …]`.
 */
import type { TlsSettings } from "./component-settings.ts";

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

const curves = new Map([
  ["secp256r1", 23],
  ["secp384r1", 24],
  ["secp521r1", 25],
  ["X25519", 29],
  ["X25519MLKEM768", 4588],
]);

/** TLS below 1.2 is not to be had, whatever a cluster's profile says. */
export function leastTlsVersion({ minVersion }: TlsSettings): string | undefined {
  return minVersion === "VersionTLS10" || minVersion === "VersionTLS11" ? "VersionTLS12" : minVersion;
}

export function goTlsFlags(settings: TlsSettings): readonly string[] {
  const version = leastTlsVersion(settings);
  const names = settings.cipherSuites.map((name) => suites.get(name) ?? name).filter((name) => ianaNames.has(name));
  const isChosen = names.length > 0 && version !== "VersionTLS13";
  return [
    ...(version === undefined ? [] : [`--tls-min-version=${version}`]),
    ...(isChosen ? [`--tls-cipher-suites=${[...new Set(names)].join(",")}`] : []),
  ];
}

/** Apart, as not every server has it. */
export function goCurveFlags({ curvePreferences }: TlsSettings): readonly string[] {
  const numbers = new Set(curvePreferences.flatMap((name) => curves.get(name) ?? []));
  return numbers.size === 0 ? [] : [`--tls-curve-preferences=${[...numbers].join(",")}`];
}
