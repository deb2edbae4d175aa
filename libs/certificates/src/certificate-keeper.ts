// SPDX-License-Identifier: Apache-2.0
/**
 * createCertificateKeeper manages the serving certificate of all replicas: it issues a certificate if none is valid, renews
 * it before it expires, and announces the new CA before the new certificate is used.
 * Replicas do not conflict: a write fails if another replica has written since the last read, and then the replica reads
 * the result of the other. After a deletion a new certificate is issued, and clients still trust the old CA: servers use
 * the old certificate until they see the new one, which takes minutes for a mounted Secret.
 * Usage: `const keep = createCertificateKeeper({ store, names, timings, nowMs, onChange }); await keep();`
 */
import {
  afterStep,
  bundleOf,
  isUsable,
  nextStep,
  requestFor,
  type CertificateTimings,
  type StoredCertificates,
} from "./certificate-state.ts";
import type { CertificateRequest, IssuedCertificate, KeyPair } from "./sign-certificate.ts";

/** Storage that all replicas share. */
export interface CertificateStore {
  /** Returns undefined if nothing is stored or the content cannot be read. */
  read(): StoredCertificates | undefined;
  /** Resolves with "lost" if the content has changed since the last read(). */
  write(stored: StoredCertificates): Promise<"written" | "lost">;
  /** Publishes the CA bundle. Resolves with "published" if all clients already had it, else with "changed". */
  publish(bundle: string): Promise<"published" | "changed">;
}

export interface CertificateKeeperOptions {
  readonly store: CertificateStore;
  /** DNS names and IP addresses of the server. */
  readonly names: readonly string[];
  readonly timings: CertificateTimings;
  readonly nowMs: () => number;
  /** Called with the certificate to use, also if it has not changed. */
  readonly onChange: (pair: KeyPair) => void;
}

/** Time until the next call after a lost write or while clients receive a new bundle. */
const soonMs = 1000;

/** Longest time between two calls: if the system clock is set meanwhile, the certificate may not be valid any more. */
const longestWaitMs = 60_000;

/** Returns a function that does the next step and resolves with the time until the next call. It rejects with errors of the store. */
export function createCertificateKeeper(
  options: CertificateKeeperOptions,
): () => Promise<{ readonly afterMs: number }> {
  const { store, names, timings, nowMs, onChange } = options;

  /** The last usable certificates. Servers may still use them after a deletion. */
  let known: StoredCertificates | undefined;

  function read(): StoredCertificates | undefined {
    const stored = store.read();
    if (stored === undefined || !isUsable(stored.current, names)) return undefined;
    known = stored;
    return stored;
  }

  return async function keep() {
    const stored = read();
    const step = nextStep(stored, nowMs(), timings);
    // The existing certificate is trusted, so it is used before the next step.
    if (stored !== undefined && step.kind !== "create") onChange(stored.current);
    const published = stored === undefined ? "changed" : await store.publish(bundleOf(stored));
    if (step.kind === "keep") return { afterMs: Math.min(Math.max(step.untilMs - nowMs(), soonMs), longestWaitMs) };
    // All clients must have the CA of the next certificate, and must have had time to read it.
    if (step.kind === "promote" && published === "changed") return { afterMs: soonMs };

    const issued = step.kind === "promote" ? undefined : await issueCertificate(requestFor(names, nowMs(), timings));
    const after = afterStep(known, step.kind, issued);
    if (after === undefined || (await store.write(after)) === "lost") return { afterMs: soonMs };
    await store.publish(bundleOf(after));
    onChange(after.current);
    return { afterMs: soonMs };
  };
}

/**
 * issueCertificate makes a key, a CA and a certificate. The code for it takes 20 MB and is loaded only when a certificate
 * is due, every 60 days.
 * The CA is new and signs only this certificate.
 */
export async function issueCertificate(request: CertificateRequest): Promise<IssuedCertificate> {
  const { signCertificate } = await import("./sign-certificate.ts");
  return signCertificate(request);
}

/**
 * serviceNames returns the DNS names of a Service in a cluster. The API server uses the first one.
 * Usage: `serviceNames("operator-webhook-service", namespace)`.
 */
export function serviceNames(service: string, namespace: string): readonly string[] {
  const name = `${service}.${namespace}`;
  return [`${name}.svc`, `${name}.svc.cluster.local`, name];
}
