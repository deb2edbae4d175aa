// SPDX-License-Identifier: Apache-2.0
/**
 * Log appends JSON lines to the node's log file, which all calls share and which is limited in size. Nothing here throws,
 * because a full disk must not stop pods. Never log the environment or a configuration: both can contain secrets.
 */
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { JsonObject } from "../request/json.ts";
import { tryLock } from "./owner-lock.ts";
import type { Settings } from "../request/settings.ts";

/** The log of a call. */
export interface Log {
  info(message: string, fields?: JsonObject): void;
  error(message: string, fields?: JsonObject): void;
}

/** The number of rotated files that are kept. eve-bridge.log.1 is the newest. */
const oldFiles = 3;

/** Creates a log, which opens its file at the first line. Each line has the time, the process id and `fields`. */
export function openLog(settings: Settings, fields: JsonObject): Log {
  let fd: number | undefined;
  const write = (level: string, message: string, more: JsonObject) => {
    try {
      fd ??= openForAppend(settings);
      const entry = { time: new Date().toISOString(), level, pid: process.pid, message, ...fields, ...more };
      // One write with O_APPEND per line, so that the lines of several processes do not mix.
      writeSync(fd, `${JSON.stringify(entry)}\n`);
    } catch {
      // Ignored: `eve-bridge doctor` reports a log that cannot be written.
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
    // Creates the last directory only: /persist exists as soon as it is mounted.
    mkdirSync(dirname(file), { mode: 0o755 });
    return openSync(file, "a", 0o640);
  }
}

/** Rotates the log. While another process rotates it, this process still writes to the full log. */
function rotate({ logFile, logMaxBytes, stateDir }: Settings): void {
  const lock = tryLock({ dir: join(stateDir, "locks"), name: "log" });
  if (lock === undefined) return;
  try {
    if (statSync(logFile).size < logMaxBytes) return; // another process has rotated it
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
    // There are fewer rotated files than the maximum.
  }
}
