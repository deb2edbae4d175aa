// SPDX-License-Identifier: Apache-2.0
/**
 * Marks interfaces of network instances as removed: zedrouter has removed them, or an ADD failed before its first step. A
 * mark is a file under /run that is kept for an hour. It contains the time since the boot, which no change of the date moves. A
 * runtime repeats DEL and sends one after each failed ADD; with the mark, that DEL succeeds while zedrouter is not reachable.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keyOf, type Attachment } from "./attachment-record.ts";
import { nowMs } from "../process/deadline.ts";
import { errnoOf } from "../request/cni-error.ts";
import { ensureDirectory } from "./owner-lock.ts";

/** Runtimes repeat a DEL within minutes. */
const keptMs = 60 * 60_000;

/** Marks an attachment as removed, and deletes old marks. Does nothing if /run cannot be written. */
export function markRemoved(stateDir: string, attachment: Attachment, now = Math.floor(nowMs())): void {
  const dir = marksIn(stateDir);
  try {
    ensureDirectory(dir, 0o700);
    writeFileSync(fileOf(stateDir, attachment), String(now), { mode: 0o600 });
    for (const name of readdirSync(dir)) {
      if (name !== keyOf(attachment)) dropIfOld(join(dir, name), now);
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
  rmSync(fileOf(stateDir, attachment), { force: true, recursive: true });
}

/** Whether the attachment is marked as removed. */
export function wasRemoved(stateDir: string, attachment: Attachment): boolean {
  return existsSync(fileOf(stateDir, attachment));
}

/** Marks that people make with `touch`, and those of another boot, are kept for an hour from now. */
function dropIfOld(file: string, now: number): void {
  const text = readIfThere(file);
  if (text === undefined) return;
  const markedMs = /^\d{1,15}$/.test(text) ? Number(text) : Infinity;
  if (markedMs > now) writeFileSync(file, String(now), { mode: 0o600 });
  else if (now - markedMs > keptMs) rmSync(file, { force: true });
}

/** Another call may have removed it. */
function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "latin1");
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined; // another call has removed it, or it is not a mark
  }
}

function marksIn(stateDir: string): string {
  return join(stateDir, "removed");
}

function fileOf(stateDir: string, attachment: Attachment): string {
  return join(marksIn(stateDir), keyOf(attachment));
}
