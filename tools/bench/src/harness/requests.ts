// SPDX-License-Identifier: Apache-2.0
/** The requests of a user, counted by verb and resource. Pure. */
import { isWrite, type AuditEvent } from "@switchyard/testing";

/**
 * Numbers of requests by verb and resource: "patch nodes/status", "watch leases". `failed` counts the failed ones
 * again.
 */
export interface RequestCount {
  readonly writes: Readonly<Record<string, number>>;
  readonly reads: Readonly<Record<string, number>>;
  /** "409 patch sriovnetworknodestates" */
  readonly failed: Readonly<Record<string, number>>;
}

export function countRequests(events: readonly AuditEvent[]): RequestCount {
  const { true: writes = [], false: reads = [] } = Object.groupBy(events, (event) => String(isWrite(event)));
  const failed = events.filter((event) => codeOf(event) >= 400);
  return {
    writes: countBy(writes, describe),
    reads: countBy(reads, describe),
    failed: countBy(failed, (event) => `${codeOf(event)} ${describe(event)}`),
  };
}

/** The most frequent first. */
function countBy(events: readonly AuditEvent[], what: (event: AuditEvent) => string): Readonly<Record<string, number>> {
  const counts = [...Map.groupBy(events, what)].map(([text, some]) => [text, some.length] as const);
  return Object.fromEntries(counts.sort(([, a], [, b]) => b - a));
}

function codeOf({ responseStatus }: AuditEvent): number {
  return responseStatus?.code ?? 0;
}

/** Reports whether a write was accepted and is not about a lease, which is renewed for ever. */
export function isLastingWrite(event: AuditEvent): boolean {
  return isWrite(event) && event.objectRef?.resource !== "leases" && codeOf(event) < 400;
}

/** The counts without those of leases: the leader renews its lease for ever. */
export function withoutLeases(counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(counts).filter(([what]) => !what.endsWith(" leases")));
}

export function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** "1000 patch sriovnetworknodestates, 2 patch sriovnetworknodepolicies/status"; "0" for none. */
export function listCounts(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([what, count]) => `${count} ${what}`);
  return parts.length === 0 ? "0" : parts.join(", ");
}

function describe({ verb, objectRef, requestURI }: AuditEvent): string {
  if (objectRef?.resource === undefined) return `${verb} ${requestURI.split("?", 1)[0] ?? ""}`;
  const { resource, subresource } = objectRef;
  return `${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`}`;
}
