// SPDX-License-Identifier: Apache-2.0
/**
 * ensureDirectory creates a directory and its parent. It does not use mkdir's `recursive`, which would create all of a
 * mistyped path and, in Node 24, never returns for a path below /proc.
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
