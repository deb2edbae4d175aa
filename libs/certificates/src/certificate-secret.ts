// SPDX-License-Identifier: Apache-2.0
/**
 * toSecretData and fromSecretData convert certificates to and from the data of a Secret of type kubernetes.io/tls. Servers
 * mount `tls.crt`, `tls.key` and `ca.crt`, the bundle of trusted CAs. The other keys are for renewal.
 * Usage: `const stored = fromSecretData(secret.data)`.
 */
import { bundleOf, type StoredCertificates } from "./certificate-state.ts";
import { formatReviewPaths, openPath, parseReviewPaths, reviewPathsKey } from "./review-paths.ts";
import type { IssuedCertificate } from "./sign-certificate.ts";

/** Data of a Secret: base64 values by key. */
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
  const { current, next, previousCa, paths } = stored;
  const texts = {
    [keys.bundle]: bundleOf(stored),
    [keys.cert]: current.cert,
    [keys.key]: current.key,
    [keys.currentCa]: current.ca,
    ...(next && { [keys.nextCa]: next.ca, [keys.nextCert]: next.cert, [keys.nextKey]: next.key }),
    ...(previousCa && { [keys.previousCa]: previousCa }),
    ...(paths && { [reviewPathsKey]: formatReviewPaths(paths) }),
  };
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, toBase64(text)]));
}

/** Returns undefined if there is no complete certificate. Does not check the certificate; see isUsable. */
export function fromSecretData(data: SecretData): StoredCertificates | undefined {
  const text = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString();
  const certificate = (ca: string, cert: string, key: string): IssuedCertificate | undefined =>
    [ca, cert, key].every((name) => data[name]) ? { ca: text(ca), cert: text(cert), key: text(key) } : undefined;
  const current = certificate(keys.currentCa, keys.cert, keys.key);
  if (current === undefined) return undefined;
  const next = certificate(keys.nextCa, keys.nextCert, keys.nextKey);
  const optional = (key: string): string | undefined => (data[key] === undefined ? undefined : text(key));
  const paths = optional(reviewPathsKey);
  return {
    current,
    next,
    previousCa: optional(keys.previousCa),
    paths: paths === undefined ? undefined : parseReviewPaths(paths),
  };
}

/** Returns the path at which the webhook is registered; openPath unless Switchyard wrote a secret one into the data. */
export function registeredPath(data: SecretData): string {
  const [path = openPath] = (isOwnSecret(data) ? fromSecretData(data)?.paths : undefined) ?? [];
  return path;
}

/** Reports whether Switchyard wrote the data, by a key that only its Secrets have. A backup restores the key, too. */
export function isOwnSecret(data: SecretData): boolean {
  return data[keys.currentCa] !== undefined;
}

/**
 * Returns the CA certificates that clients of the server must trust, as PEM. The Secrets of upstream's chart have them in
 * base64 twice.
 */
export function trustedCa(data: SecretData): string | undefined {
  const once = Buffer.from(data[keys.bundle] ?? "", "base64").toString();
  return [once, Buffer.from(once, "base64").toString()].find((text) => text.includes("-----BEGIN CERTIFICATE-----"));
}

/** Encodes a text for the data of a Secret or a caBundle. */
export function toBase64(text: string): string {
  return Buffer.from(text).toString("base64");
}
