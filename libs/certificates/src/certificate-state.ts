// SPDX-License-Identifier: Apache-2.0
/**
 * nextStep decides when a certificate is issued, renewed and put to use, from the stored certificates and the time. It is
 * pure. A new certificate is announced first: its CA is published together with the old one before any server uses the
 * certificate, and the old CA stays published afterwards. So clients trust all servers at any time, even if clients and
 * servers see changes late.
 * Usage: `const step = nextStep(stored, nowMs, timings)`.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { openPath, pathsAfter } from "./review-paths.ts";
import type { CertificateRequest, IssuedCertificate } from "./sign-certificate.ts";

/** Certificates that all replicas share. */
export interface StoredCertificates {
  /** The certificate in use. */
  readonly current: IssuedCertificate;
  /** The announced next certificate, which no server uses yet. */
  readonly next?: IssuedCertificate | undefined;
  /** CA certificate (PEM) of the certificate before, which some servers may still use. */
  readonly previousCa?: string | undefined;
  /** The paths at which the webhook answers, the registered one first. Undefined in Secrets of older releases. */
  readonly paths?: readonly string[] | undefined;
}

export interface CertificateTimings {
  /** Validity of a certificate. */
  readonly validMs: number;
  /** Time before the expiry at which the next certificate is issued. */
  readonly renewBeforeMs: number;
  /** Time between the announcement of a certificate and its use. */
  readonly announceMs: number;
}

export const defaultTimings: CertificateTimings = {
  validMs: 90 * 24 * 3_600_000,
  renewBeforeMs: 30 * 24 * 3_600_000,
  announceMs: 10 * 60_000,
};

/**
 * "create": issue a certificate, since none is valid now; "renew": issue the next certificate; "promote": use the next
 * certificate; "keep": do nothing until `untilMs`.
 */
export type CertificateStep =
  { readonly kind: "create" | "renew" | "promote" } | { readonly kind: "keep"; readonly untilMs: number };

/** The validity starts this time before the issue, since clocks differ. */
const clockSkewMs = 3_600_000;

export function nextStep(
  stored: StoredCertificates | undefined,
  nowMs: number,
  timings: CertificateTimings,
): CertificateStep {
  if (stored === undefined) return { kind: "create" };
  const { current, next } = stored;
  // A certificate is not valid yet if it was issued while the clock was wrong: a host booted with a clock that was ahead.
  const period = periodOf(current);
  const isValid = isWithin(period, nowMs);
  const nextPeriod = next && periodOf(next);
  if (nextPeriod !== undefined && isWithin(nextPeriod, nowMs)) {
    const dueMs = nextPeriod.startMs + clockSkewMs + timings.announceMs;
    return !isValid || nowMs >= dueMs ? { kind: "promote" } : { kind: "keep", untilMs: dueMs };
  }
  if (!isValid) return { kind: "create" };
  const dueMs = period.endMs - timings.renewBeforeMs;
  return nowMs >= dueMs ? { kind: "renew" } : { kind: "keep", untilMs: dueMs };
}

/** Returns the request for a certificate that is issued now. */
export function requestFor(
  names: readonly string[],
  nowMs: number,
  { validMs }: CertificateTimings,
): CertificateRequest {
  return { names, notBefore: new Date(nowMs - clockSkewMs), notAfter: new Date(nowMs + validMs) };
}

/** Returns the certificates to store after a step. `issued` is the new certificate, except for "promote". */
export function afterStep(
  stored: StoredCertificates | undefined,
  kind: "create" | "renew" | "promote",
  issued: IssuedCertificate | undefined,
): StoredCertificates | undefined {
  // A Secret without paths is one of an older release. Its webhook answers at the open path.
  const paths = pathsAfter(kind, stored && (stored.paths ?? [openPath]), issued);
  if (kind === "promote") {
    return stored?.next && { current: stored.next, previousCa: stored.current.ca, paths };
  }
  if (issued === undefined) return stored;
  if (kind === "renew" && stored !== undefined) return { ...stored, next: issued, paths };
  return { current: issued, previousCa: stored?.current.ca, paths };
}

/** Returns all CA certificates that clients must trust now, in PEM format. */
export function bundleOf({ current, next, previousCa = "" }: StoredCertificates): string {
  return `${current.ca}${next?.ca ?? ""}${previousCa}`;
}

/** Reports whether the certificate matches its key and CA and is valid for all names. */
export function isUsable({ ca, cert, key }: IssuedCertificate, names: readonly string[]): boolean {
  try {
    const leaf = new X509Certificate(cert);
    const isFor = (name: string): boolean => leaf.checkHost(name) !== undefined || leaf.checkIP(name) !== undefined;
    return (
      leaf.checkPrivateKey(createPrivateKey(key)) && leaf.checkIssued(new X509Certificate(ca)) && names.every(isFor)
    );
  } catch {
    return false; // invalid PEM
  }
}

interface Period {
  readonly startMs: number;
  readonly endMs: number;
}

function isWithin({ startMs, endMs }: Period, timeMs: number): boolean {
  return startMs <= timeMs && timeMs < endMs;
}

/** Returns the time in which clients accept both the certificate and its CA. */
function periodOf({ ca, cert }: IssuedCertificate): Period {
  const both = [ca, cert].map((pem) => new X509Certificate(pem));
  return {
    startMs: Math.max(...both.map(({ validFrom }) => Date.parse(validFrom))),
    endMs: Math.min(...both.map(({ validTo }) => Date.parse(validTo))),
  };
}
