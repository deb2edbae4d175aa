// SPDX-License-Identifier: Apache-2.0
/**
 * createAuditTail reads the audit log of an API server, with which tests check the requests of each client.
 * Usage: `(await createAuditTail("/tmp/cluster/audit.log").read()).filter(isWrite)`.
 */
import { open } from "node:fs/promises";

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

/** A reader that parses each line once. */
export interface AuditTail {
  /** Forgets the requests so far. */
  begin(): Promise<void>;
  /** The finished requests since `begin`, in the order of completion. A request can be logged shortly after its response. */
  read(): Promise<readonly AuditEvent[]>;
}

/** Reads the requests of all users, or of one only. The lines of other users are not parsed. */
export function createAuditTail(path: string, username?: string): AuditTail {
  const mark = username === undefined ? "" : `"username":${JSON.stringify(username)}`;
  // The line of another user may be about an object that contains the user's name.
  const isWanted = ({ user }: AuditEvent) => username === undefined || user.username === username;
  let offset = 0;
  let events: AuditEvent[] = [];

  async function readMore(): Promise<void> {
    await using file = await open(path, "r");
    const buffer = Buffer.alloc(chunkBytes);
    let rest = Buffer.alloc(0);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, chunkBytes, offset);
      if (bytesRead === 0) break;
      offset += bytesRead;
      const text = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
      const end = text.lastIndexOf(10) + 1;
      for (const line of text.toString("utf8", 0, end).split("\n")) {
        const event: unknown = line !== "" && line.includes(mark) ? JSON.parse(line) : undefined;
        if (isAuditEvent(event) && isWanted(event)) events.push(event);
      }
      rest = Buffer.from(text.subarray(end));
    }
    offset -= rest.length; // the last line is incomplete
  }

  return {
    async begin() {
      await readMore();
      events = [];
    },
    async read() {
      await readMore();
      return [...events];
    },
  };
}

const chunkBytes = 1 << 20;

/** Reports whether the request is a write. */
export function isWrite(event: AuditEvent): boolean {
  return ["create", "update", "patch", "delete", "deletecollection"].includes(event.verb);
}

// The fields that tests need; any other field can be missing.
function isAuditEvent(value: unknown): value is AuditEvent {
  if (typeof value !== "object" || value === null) return false;
  return "auditID" in value && "verb" in value && "requestURI" in value && "user" in value && "stageTimestamp" in value;
}
