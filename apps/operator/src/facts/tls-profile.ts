// SPDX-License-Identifier: Apache-2.0
/**
 * readTlsProfile reads the TLS profile of an OpenShift cluster (sriov-operator.md H). It applies only if the
 * administrator requires it for all components, and is limited to TLS 1.2 and later and to cipher suites with forward
 * secrecy and authenticated encryption.
 */
import { isRecord, type KubeObject } from "@switchyard/kube";
import type { TlsSettings } from "@switchyard/render";

/** The fields of an APIServer of config.openshift.io/v1 that are used. */
export interface ApiServerConfig extends KubeObject {
  readonly spec?: {
    readonly tlsAdherence?: string;
    readonly tlsSecurityProfile?: Readonly<Record<string, unknown>>;
  };
}

const tls13Suites = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];

/** The secure cipher suites of the profiles Intermediate and Old, which differ only in suites that are not secure. */
const tls12Suites = [
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
];

const intermediate: TlsSettings = {
  minVersion: "VersionTLS12",
  cipherSuites: [...tls13Suites, ...tls12Suites],
  curvePreferences: [],
};

const modern: TlsSettings = { minVersion: "VersionTLS13", cipherSuites: tls13Suites, curvePreferences: [] };

/** Returns undefined if the operator's own settings apply. */
export function readTlsProfile({ spec = {} }: ApiServerConfig): TlsSettings | undefined {
  if (spec.tlsAdherence !== "StrictAllComponents") return undefined;
  const { type, custom } = spec.tlsSecurityProfile ?? {};
  if (type === "Modern") return modern;
  return type === "Custom" && isRecord(custom) ? readCustom(custom) : intermediate;
}

function readCustom({ minTLSVersion, ciphers }: Readonly<Record<string, unknown>>): TlsSettings {
  const known: readonly unknown[] = Array.isArray(ciphers) ? ciphers : [];
  const cipherSuites = intermediate.cipherSuites.filter((suite) => known.includes(suite));
  if (minTLSVersion === "VersionTLS13") return { ...modern, cipherSuites };
  // If no listed suite is secure, all secure suites are used, because no client could connect otherwise.
  return cipherSuites.length === 0 ? intermediate : { ...intermediate, cipherSuites };
}
