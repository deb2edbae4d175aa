// SPDX-License-Identifier: Apache-2.0
/**
 * Keeps the certificate of all replicas: made when there is none, renewed before its end, announced before it is shown.
 * Replicas never fight: each step is written on condition that nobody wrote meanwhile, and who loses reads what the
 * other made. What is deleted is made anew, and clients trust the old one as well: servers show it until they hear of it,
 * which takes minutes where they read it from a mounted Secret.
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
import { issueCertificate } from "./issue-certificate.ts";
import type { KeyPair } from "./issued-certificate.ts";

/** What the replicas share. */
export interface CertificateStore {
  /** Undefined where nothing is stored, or nothing that can be read. */
  read(): StoredCertificates | undefined;
  /** "lost" if what was read last is not what is stored any more: read again later. */
  write(stored: StoredCertificates): Promise<"written" | "lost">;
  /** Makes clients trust the bundle. "published" if they already did, all of them; "changed" if they will soon. */
  publish(bundle: string): Promise<"published" | "changed">;
}

export interface CertificateKeeperOptions {
  readonly store: CertificateStore;
  /** That the server is called by. */
  readonly names: readonly string[];
  readonly timings: CertificateTimings;
  readonly nowMs: () => number;
  /** Told what to show; the same pair may come again. */
  readonly onChange: (pair: KeyPair) => void;
}

/** How soon to look again when somebody else was faster, or clients learn of a new authority right now. */
const soonMs = 1000;

/** Timers take 24 days at most; clocks are set. */
const longestWaitMs = 3_600_000;

/** Does what is due, and says how long nothing will be. Rejects with what the store rejects with. */
export function createCertificateKeeper(
  options: CertificateKeeperOptions,
): () => Promise<{ readonly afterMs: number }> {
  const { store, names, timings, nowMs, onChange } = options;

  /** The last good one, which servers may show though it is gone. */
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
    // What is there is shown first: it is trusted, and the next one can wait.
    if (stored !== undefined && step.kind !== "create") onChange(stored.current);
    const published = stored === undefined ? "changed" : await store.publish(bundleOf(stored));
    if (step.kind === "keep") return { afterMs: Math.min(Math.max(step.untilMs - nowMs(), soonMs), longestWaitMs) };
    // Not before all clients were told of it, and had the time to hear.
    if (step.kind === "promote" && published === "changed") return { afterMs: soonMs };

    const issued = step.kind === "promote" ? undefined : await issueCertificate(requestFor(names, nowMs(), timings));
    const after = afterStep(known, step.kind, issued);
    if (after === undefined || (await store.write(after)) === "lost") return { afterMs: soonMs };
    await store.publish(bundleOf(after));
    onChange(after.current);
    return { afterMs: soonMs };
  };
}
