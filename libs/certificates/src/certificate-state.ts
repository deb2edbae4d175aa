// SPDX-License-Identifier: Apache-2.0
/**
 * When a certificate is made, renewed and put to use, as a function of what is stored and the time. A renewed certificate
 * is first announced: its authority is published beside the old one for a while before any server shows it, and the old
 * one stays published after that. So every moment each server is trusted by all who ask, however they lag behind.
 * Usage: `const step = nextStep(stored, nowMs, timings)`.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import type { CertificateRequest, IssuedCertificate } from "./issued-certificate.ts";

/** What all replicas share. */
export interface StoredCertificates {
  /** What servers show. */
  readonly current: IssuedCertificate;
  /** Announced; shown by nobody yet. */
  readonly next?: IssuedCertificate | undefined;
  /** Authority, PEM, of what was shown before; some servers may still show it. */
  readonly previousCa?: string | undefined;
}

export interface CertificateTimings {
  /** How long a certificate is valid. */
  readonly validMs: number;
  /** How long before its end the next one is made. */
  readonly renewBeforeMs: number;
  /** How long the next one is announced before it is shown. */
  readonly announceMs: number;
}

export const defaultTimings: CertificateTimings = {
  validMs: 90 * 24 * 3_600_000,
  renewBeforeMs: 30 * 24 * 3_600_000,
  announceMs: 10 * 60_000,
};

/** "create": there is nothing to show; "renew": make the next one; "promote": show it. Else: when to look again. */
export type CertificateStep =
  { readonly kind: "create" | "renew" | "promote" } | { readonly kind: "keep"; readonly untilMs: number };

/** Clocks differ: a certificate is valid from somewhat before it is made. */
const clockSkewMs = 3_600_000;

export function nextStep(
  stored: StoredCertificates | undefined,
  nowMs: number,
  timings: CertificateTimings,
): CertificateStep {
  if (stored === undefined) return { kind: "create" };
  const { current, next } = stored;
  const isExpired = endOf(current) <= nowMs;
  if (next !== undefined && endOf(next) > nowMs) {
    const dueMs = madeAt(next) + timings.announceMs;
    return isExpired || nowMs >= dueMs ? { kind: "promote" } : { kind: "keep", untilMs: dueMs };
  }
  if (isExpired) return { kind: "create" };
  const dueMs = endOf(current) - timings.renewBeforeMs;
  return nowMs >= dueMs ? { kind: "renew" } : { kind: "keep", untilMs: dueMs };
}

/** What is to be asked for, made now. */
export function requestFor(
  names: readonly string[],
  nowMs: number,
  { validMs }: CertificateTimings,
): CertificateRequest {
  return { names, notBefore: new Date(nowMs - clockSkewMs), notAfter: new Date(nowMs + validMs) };
}

/** What is stored after a step, for which `issued` was made unless it is "promote". */
export function afterStep(
  stored: StoredCertificates | undefined,
  kind: "create" | "renew" | "promote",
  issued: IssuedCertificate | undefined,
): StoredCertificates | undefined {
  if (kind === "promote") {
    return stored?.next && { current: stored.next, previousCa: stored.current.ca };
  }
  if (issued === undefined) return stored;
  if (kind === "renew" && stored !== undefined) return { ...stored, next: issued };
  return { current: issued, previousCa: stored?.current.ca };
}

/** All authorities that are to be trusted now, PEM. */
export function bundleOf({ current, next, previousCa = "" }: StoredCertificates): string {
  return `${current.ca}${next?.ca ?? ""}${previousCa}`;
}

/** Whether the certificate is of the key, of the authority, and for all of the names. */
export function isUsable({ ca, cert, key }: IssuedCertificate, names: readonly string[]): boolean {
  try {
    const leaf = new X509Certificate(cert);
    const isFor = (name: string): boolean => leaf.checkHost(name) !== undefined || leaf.checkIP(name) !== undefined;
    return (
      leaf.checkPrivateKey(createPrivateKey(key)) && leaf.checkIssued(new X509Certificate(ca)) && names.every(isFor)
    );
  } catch {
    return false; // not PEM
  }
}

function endOf({ cert }: IssuedCertificate): number {
  return Date.parse(new X509Certificate(cert).validTo);
}

function madeAt({ cert }: IssuedCertificate): number {
  return Date.parse(new X509Certificate(cert).validFrom) + clockSkewMs;
}
