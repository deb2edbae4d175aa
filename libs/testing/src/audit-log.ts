// SPDX-License-Identifier: Apache-2.0
/**
 * The API server's own record of who asked for what: the judge in tests of what was, or was not, written.
 * Usage: `(await readAuditLog(controlPlane.auditLog)).filter(isWrite)`
 */
import { readFile } from "node:fs/promises";

/** The fields of audit.k8s.io/v1 Event that tests look at; one per finished request. */
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
  /** RFC 3339 with microseconds. */
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  /** What was sent, of the requests that change something. */
  readonly requestObject?: unknown;
}

/**
 * An audit policy for --audit-policy-file: each request once, when it is done; those that change something with what
 * was sent.
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

/** All events so far, in the order in which they were done. A request's event may come a moment after its answer. */
export async function readAuditLog(path: string): Promise<readonly AuditEvent[]> {
  const text = await readFile(path, "utf8");
  // The last line may be half written.
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  return lines
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line))
    .filter(isAuditEvent);
}

/** Whether the request could change something. */
export function isWrite(event: AuditEvent): boolean {
  return ["create", "update", "patch", "delete", "deletecollection"].includes(event.verb);
}

// What tests count by; the rest may be missing in any event.
function isAuditEvent(value: unknown): value is AuditEvent {
  if (typeof value !== "object" || value === null) return false;
  return "auditID" in value && "verb" in value && "requestURI" in value && "user" in value && "stageTimestamp" in value;
}
