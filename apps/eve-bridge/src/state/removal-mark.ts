// SPDX-License-Identifier: Apache-2.0
/**
 * Interfaces in network instances that we know to be gone, since zedrouter said so or an ADD made nothing: an empty file
 * each under /run, for an hour. A runtime repeats DEL, and sends one after each failed ADD; with the mark it succeeds also
 * while zedrouter is away.
 * Usage: `markRemoved(stateDir, env)` after DisconnectPod; `if (wasRemoved(stateDir, env)) …`.
 */
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keyOf } from "./attachment-record.ts";
import { errnoOf } from "../request/cni-error.ts";
import { ensureDirectory } from "./directory.ts";
import type { Attachment } from "../delegates/orphans.ts";

/** Runtimes repeat a DEL within minutes. */
const keptMs = 60 * 60_000;

/** Remembers that nothing is left of an attachment, and forgets what was marked long ago. Does nothing where /run cannot be written. */
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
    // A full or read-only /run must not keep pods from ending: a repeated DEL then needs zedrouter.
    if (errnoOf(error) === undefined) throw error;
  }
}

/** For ADD, before it makes something. Throws the file system's error: with the mark left, a DEL might remove nothing. */
export function unmarkRemoved(stateDir: string, attachment: Attachment): void {
  rmSync(fileOf(stateDir, attachment), { force: true });
}

/** Whether the attachment was removed and not added again. */
export function wasRemoved(stateDir: string, attachment: Attachment): boolean {
  return existsSync(fileOf(stateDir, attachment));
}

function marksIn(stateDir: string): string {
  return join(stateDir, "removed");
}

function fileOf(stateDir: string, attachment: Attachment): string {
  return join(marksIn(stateDir), keyOf(attachment));
}
