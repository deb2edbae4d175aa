// SPDX-License-Identifier: Apache-2.0
/**
 * readAuditLog reads the audit log of an API server, with which tests check the requests of each client.
 * Usage: `(await readAuditLog("/tmp/cluster/audit.log")).filter(isWrite)`.
 */
import { readFile } from "node:fs/promises";

/** A finished request: the fields of audit.k8s.io/v1 Event that tests use. */
export interface AuditEvent {
  readonly auditID: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly userAgent?: string;
  readonly user: { readonly username?: string; readonly groups?: readonly string[] };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  /** "authorization.k8s.io/decision" is "forbid" for a request without the right. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** RFC 3339 with microseconds. */
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  /** Body of the request, for writes. */
  readonly requestObject?: unknown;
}

/**
 * Returns an audit policy for --audit-policy-file. It logs each request once, when it is complete, and the bodies of
 * writes.
 */
export function renderAuditPolicy(): string {
  return JSON.stringify({
    apiVersion: "audit.k8s.io/v1",
    kind: "Policy",
    omitStages: ["RequestReceived", "ResponseStarted"],
    rules: [
      { level: "Request", verbs: ["create", "update", "patch", "delete", "deletecollection"] },
      { level: "Metadata" },
    ],
  });
}

/** Returns all events in the order of completion. An event can be logged shortly after the response of its request. */
export async function readAuditLog(path: string): Promise<readonly AuditEvent[]> {
  const text = await readFile(path, "utf8");
  // The last line may be incomplete.
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  return lines
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line))
    .filter(isAuditEvent);
}

/** Reports whether the request is a write. */
export function isWrite(event: AuditEvent): boolean {
  return ["create", "update", "patch", "delete", "deletecollection"].includes(event.verb);
}

// The fields that tests need; any other field can be missing.
function isAuditEvent(value: unknown): value is AuditEvent {
  if (typeof value !== "object" || value === null) return false;
  return "auditID" in value && "verb" in value && "requestURI" in value && "user" in value && "stageTimestamp" in value;
}
