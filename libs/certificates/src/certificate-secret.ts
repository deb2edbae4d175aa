// SPDX-License-Identifier: Apache-2.0
/**
 * Certificates as the data of a Secret of type kubernetes.io/tls, which servers can mount: `tls.crt` and `tls.key` are
 * what is shown, `ca.crt` is who is to be trusted. The rest is for whoever renews them.
 * Usage: `const stored = fromSecretData(secret.data)`.
 */
import { bundleOf, type StoredCertificates } from "./certificate-state.ts";
import type { IssuedCertificate } from "./issued-certificate.ts";

/** Values are base64. */
export type SecretData = Readonly<Record<string, string>>;

const keys = {
  bundle: "ca.crt",
  cert: "tls.crt",
  key: "tls.key",
  currentCa: "current-ca.crt",
  nextCa: "next-ca.crt",
  nextCert: "next-tls.crt",
  nextKey: "next-tls.key",
  previousCa: "previous-ca.crt",
} as const;

export function toSecretData(stored: StoredCertificates): SecretData {
  const { current, next, previousCa } = stored;
  const texts = {
    [keys.bundle]: bundleOf(stored),
    [keys.cert]: current.cert,
    [keys.key]: current.key,
    [keys.currentCa]: current.ca,
    ...(next && { [keys.nextCa]: next.ca, [keys.nextCert]: next.cert, [keys.nextKey]: next.key }),
    ...(previousCa && { [keys.previousCa]: previousCa }),
  };
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, toBase64(text)]));
}

/** Undefined where there is nothing to show. Whether it is good for anything, isUsable() knows. */
export function fromSecretData(data: SecretData): StoredCertificates | undefined {
  const text = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString();
  const certificate = (ca: string, cert: string, key: string): IssuedCertificate | undefined =>
    [ca, cert, key].every((name) => data[name]) ? { ca: text(ca), cert: text(cert), key: text(key) } : undefined;
  const current = certificate(keys.currentCa, keys.cert, keys.key);
  if (current === undefined) return undefined;
  const next = certificate(keys.nextCa, keys.nextCert, keys.nextKey);
  return { current, next, previousCa: data[keys.previousCa] === undefined ? undefined : text(keys.previousCa) };
}

/** Known by a key that only ours have, which a backup restores, too. */
export function isSelfMade(data: SecretData): boolean {
  return data[keys.currentCa] !== undefined;
}

/** As Secrets and caBundles have their texts. */
export function toBase64(text: string): string {
  return Buffer.from(text).toString("base64");
}
