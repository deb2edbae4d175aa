// SPDX-License-Identifier: Apache-2.0
/**
 * Makes a directory and the one above it. Not mkdir's `recursive`, which makes all of a mistaken path and, in Node 24,
 * never returns for one below /proc.
 * Usage: `ensureDirectory("/run/eve-bridge/locks", 0o700)`.
 */
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { errnoOf } from "../request/cni-error.ts";

/** Throws the file system's error. */
export function ensureDirectory(path: string, mode: number): void {
  if (existsSync(path)) return;
  for (const dir of [dirname(path), path]) {
    try {
      mkdirSync(dir, { mode });
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
    }
  }
}
