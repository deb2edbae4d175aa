// SPDX-License-Identifier: Apache-2.0
/**
 * Where this workspace begins. Found from the working directory, which Nx and npm set inside the workspace: a module
 * cannot ask where it lies, since tests run it as CommonJS and Node as an ES module.
 * Usage: `join(findWorkspaceRoot(), "tools/control-plane/go.mod")`
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { TestingError } from "./testing-error.ts";

/** The nearest directory at or above `from` that holds nx.json. Throws TestingError `workspace`. */
export function findWorkspaceRoot(from: string = process.cwd()): string {
  for (let directory = from; ; directory = dirname(directory)) {
    if (existsSync(join(directory, "nx.json"))) return directory;
    if (directory === dirname(directory)) break;
  }
  throw new TestingError("workspace", `no nx.json in ${from} or above it: start this inside the workspace`);
}
