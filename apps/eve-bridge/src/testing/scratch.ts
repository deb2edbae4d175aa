// SPDX-License-Identifier: Apache-2.0
/** Scratch is a temporary directory of a test, which is removed when the test ends. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** An empty directory. */
export interface Scratch extends Disposable {
  readonly dir: string;
  /** A path in it. */
  path(...parts: string[]): string;
}

/** Creates a directory whose path is short enough for Unix sockets. */
export function createScratch(): Scratch {
  const dir = mkdtempSync(join(tmpdir(), "eb-"));
  return {
    dir,
    path: (...parts) => join(dir, ...parts),
    [Symbol.dispose]() {
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
