// SPDX-License-Identifier: Apache-2.0
/**
 * A directory of a test's own, gone after it.
 * Usage: `using scratch = createScratch(); writeFileSync(scratch.path("conf.json"), …)`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** An empty directory. */
export interface Scratch extends Disposable {
  readonly dir: string;
  /** A path in it. */
  path(...parts: string[]): string;
}

/** Makes one with a name that is short enough for sockets. */
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
