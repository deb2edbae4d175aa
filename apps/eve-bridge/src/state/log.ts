// SPDX-License-Identifier: Apache-2.0
/**
 * The log: one JSON object a line, appended by all calls of the node to one file that is bounded in size. A log that
 * cannot be written is no reason to fail a pod, so nothing here throws. Never log the environment or a configuration:
 * both can hold secrets.
 * Usage: `const log = openLog(settings, { command: "ADD" }); log.info("connected", { ms: 4 }); log.error("failed", …)`.
 */
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { JsonObject } from "../request/json.ts";
import { tryLock } from "./owner-lock.ts";
import type { Settings } from "../request/settings.ts";

/** Where a call writes what it does. */
export interface Log {
  info(message: string, fields?: JsonObject): void;
  error(message: string, fields?: JsonObject): void;
}

/** Old files beside the log: eve-bridge.log.1 is the newest. */
const oldFiles = 3;

/** Writes nothing: for verbs that print. */
export const noLog: Log = { info: () => undefined, error: () => undefined };

/** Opens the log at its first line. Each line carries the time, the process id and `fields`. */
export function openLog(settings: Settings, fields: JsonObject): Log {
  let fd: number | undefined;
  const write = (level: string, message: string, more: JsonObject) => {
    try {
      fd ??= openForAppend(settings);
      const entry = { time: new Date().toISOString(), level, pid: process.pid, message, ...fields, ...more };
      // One write with O_APPEND: lines of several processes do not mix.
      writeSync(fd, `${JSON.stringify(entry)}\n`);
    } catch {
      // No directory, no space, no rights: `eve-bridge doctor` tells, the pod comes first.
    }
  };
  return {
    info: (message, more = {}) => {
      write("info", message, more);
    },
    error: (message, more = {}) => {
      write("error", message, more);
    },
  };
}

function openForAppend(settings: Settings): number {
  const fd = openOrMakeDirectory(settings.logFile);
  if (fstatSync(fd).size < settings.logMaxBytes) return fd;
  closeSync(fd);
  rotate(settings);
  return openSync(settings.logFile, "a", 0o640);
}

function openOrMakeDirectory(file: string): number {
  try {
    return openSync(file, "a", 0o640);
  } catch {
    // Only the last directory: /persist itself appears when it is mounted.
    mkdirSync(dirname(file), { mode: 0o755 });
    return openSync(file, "a", 0o640);
  }
}

/** Moves the log and its predecessors on by one. While another process does it, this one still writes to the full log. */
function rotate({ logFile, logMaxBytes, stateDir }: Settings): void {
  const lock = tryLock({ dir: join(stateDir, "locks"), name: "log" });
  if (lock === undefined) return;
  try {
    if (statSync(logFile).size < logMaxBytes) return; // another process was quicker
    for (let i = oldFiles; i > 1; i--) renameIfThere(`${logFile}.${i - 1}`, `${logFile}.${i}`);
    renameSync(logFile, `${logFile}.1`);
  } finally {
    lock.release();
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // no log that old yet
  }
}
