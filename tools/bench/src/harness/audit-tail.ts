// SPDX-License-Identifier: Apache-2.0
/**
 * AuditTail reads the requests of one user from the API server's audit log. It parses the lines of that user only,
 * because most lines are about the writes of the harness.
 */
import { open } from "node:fs/promises";
import type { AuditEvent } from "@switchyard/testing";

export interface AuditTail {
  /** The user's finished requests since the last call. */
  read(): Promise<readonly AuditEvent[]>;
}

export function createAuditTail(path: string, username: string): AuditTail {
  const mark = `"username":${JSON.stringify(username)}`;
  let offset = 0;

  return {
    async read() {
      const events: AuditEvent[] = [];
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
          if (!line.includes(mark)) continue;
          const event: unknown = JSON.parse(line);
          if (isEventOf(event, username)) events.push(event);
        }
        rest = Buffer.from(text.subarray(end));
      }
      offset -= rest.length; // the last line is incomplete
      return events;
    },
  };
}

const chunkBytes = 1 << 20;

// The line may also be about an object that contains the user's name.
function isEventOf(value: unknown, username: string): value is AuditEvent {
  if (typeof value !== "object" || value === null || !("user" in value)) return false;
  const { user } = value;
  return typeof user === "object" && user !== null && "username" in user && user.username === username;
}
