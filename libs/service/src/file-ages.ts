// SPDX-License-Identifier: Apache-2.0
/**
 * createFileAges says how old files are, on machines whose clock is set while they run. A file can have been written by a clock that
 * was in 1970, or years ahead: then its age counts from the moment at which this process saw it first.
 * Usage: `const ageOf = createFileAges(); ageOf(path, (await stat(path)).mtimeMs);`
 */
import { uptime } from "node:os";

export interface FileAgesOptions {
  /** The wall clock. */
  readonly wallMs?: () => number;
  /** A clock that nobody sets. */
  readonly elapsedMs?: () => number;
  /** Time since the machine started. */
  readonly uptimeMs?: () => number;
}

/** Returns how long ago the file changed, in milliseconds. `changedMs` is the time of the change in its metadata. */
export type FileAge = (path: string, changedMs: number) => number;

/** The uptime has steps, and file systems have coarse clocks. */
const toleranceMs = 1_000;

/** Files that are remembered. */
const maxFiles = 4_096;

export function createFileAges({
  wallMs = Date.now,
  elapsedMs = () => performance.now(),
  uptimeMs = () => uptime() * 1_000,
}: FileAgesOptions = {}): FileAge {
  const seen = new Map<string, { readonly changedMs: number; readonly bornMs: number }>();
  return function ageOf(path, changedMs) {
    const nowMs = elapsedMs();
    const known = seen.get(path);
    if (known?.changedMs === changedMs) return nowMs - known.bornMs;
    // A file from before the boot can be one of this boot, by a clock that was set since.
    const ageMs = wallMs() - changedMs;
    const isCredible = ageMs >= 0 && ageMs <= uptimeMs() + toleranceMs;
    const bornMs = nowMs - (isCredible ? ageMs : 0);
    const [oldest] = seen.keys();
    if (seen.size >= maxFiles && oldest !== undefined) seen.delete(oldest);
    seen.delete(path);
    seen.set(path, { changedMs, bornMs });
    return nowMs - bornMs;
  };
}
