// SPDX-License-Identifier: Apache-2.0
/** countRequests counts a user's requests to the API server by verb and resource. Pure. */
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
  const writes = new Map<string, number>();
  const reads = new Map<string, number>();
  const failed = new Map<string, number>();
  for (const event of events) {
    const what = describe(event);
    increment(isWrite(event) ? writes : reads, what);
    const code = event.responseStatus?.code ?? 0;
    if (code >= 400) increment(failed, `${code} ${what}`);
  }
  return { writes: sorted(writes), reads: sorted(reads), failed: sorted(failed) };
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

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function sorted(counts: ReadonlyMap<string, number>): Readonly<Record<string, number>> {
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a));
}
