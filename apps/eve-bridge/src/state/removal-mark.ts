// SPDX-License-Identifier: Apache-2.0
/**
 * Marks interfaces of network instances as removed: zedrouter has removed them, or an ADD failed before its first step. A
 * mark is an empty file under /run that is kept for an hour. A runtime repeats DEL and sends one after each failed ADD;
 * with the mark, that DEL succeeds while zedrouter is not reachable.
 */
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keyOf, type Attachment } from "./attachment-record.ts";
import { errnoOf } from "../request/cni-error.ts";
import { ensureDirectory } from "./owner-lock.ts";

/** Runtimes repeat a DEL within minutes. */
const keptMs = 60 * 60_000;

/** Marks an attachment as removed, and deletes old marks. Does nothing if /run cannot be written. */
export function markRemoved(stateDir: string, attachment: Attachment, now = Date.now()): void {
  const dir = marksIn(stateDir);
  try {
    ensureDirectory(dir, 0o700);
    writeFileSync(fileOf(stateDir, attachment), "", { mode: 0o600 });
    for (const name of readdirSync(dir)) {
      const file = join(dir, name);
      const markedMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? now;
      if (now - markedMs > keptMs) rmSync(file, { force: true });
    }
  } catch (error) {
    // A full or read-only /run must not block the deletion of pods. A repeated DEL then needs zedrouter.
    if (errnoOf(error) === undefined) throw error;
  }
}

/**
 * Deletes the mark before an ADD. Throws the file system's error, because a DEL might remove nothing while the mark
 * exists.
 */
export function unmarkRemoved(stateDir: string, attachment: Attachment): void {
  rmSync(fileOf(stateDir, attachment), { force: true });
}

/** Whether the attachment is marked as removed. */
export function wasRemoved(stateDir: string, attachment: Attachment): boolean {
  return existsSync(fileOf(stateDir, attachment));
}

function marksIn(stateDir: string): string {
  return join(stateDir, "removed");
}

function fileOf(stateDir: string, attachment: Attachment): string {
  return join(marksIn(stateDir), keyOf(attachment));
}
