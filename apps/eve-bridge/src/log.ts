// SPDX-License-Identifier: Apache-2.0
/**
 * The log: one JSON object a line, appended by all calls of the node to one file that is bounded in size. A log that
 * cannot be written is no reason to fail a pod, so nothing here throws. Never log the environment or a configuration:
 * both can hold secrets.
 * Usage: `const log = openLog(settings, { command: "ADD" }); log.info("connected", { ms: 4 }); log.error("failed", …)`.
 */
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { JsonObject } from "./json.ts";
import { tryLock } from "./owner-lock.ts";
import type { Settings } from "./settings.ts";

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
      const entry = { time: isoTime(Date.now()), level, pid: process.pid, message, ...fields, ...more };
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

/** As Date's toISOString, which loads the time zones first: a tenth of a whole start (civil calendar from day numbers). */
export function isoTime(epochMs: number): string {
  const dayMs = 86_400_000;
  const days = Math.floor(epochMs / dayMs) + 719_468; // since 0000-03-01, so that leap days end a year
  const era = Math.floor(days / 146_097);
  const dayOfEra = days - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153); // March is 0
  const day = dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1;
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const ofDay = epochMs - Math.floor(epochMs / dayMs) * dayMs;
  const two = (value: number) => String(value).padStart(2, "0");
  const clock = [3_600_000, 60_000, 1_000].map((unit, i) => two(Math.floor(ofDay / unit) % (i === 0 ? 24 : 60)));
  return `${year}-${two(month)}-${two(day)}T${clock.join(":")}.${String(ofDay % 1000).padStart(3, "0")}Z`;
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
