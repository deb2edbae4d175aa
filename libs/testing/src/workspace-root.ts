// SPDX-License-Identifier: Apache-2.0
/**
 * findWorkspaceRoot finds the root of the workspace from the working directory, which Nx and npm set inside the workspace.
 * It cannot use the path of the module, since tests run it as CommonJS and Node runs it as an ES module.
 * Usage: `join(findWorkspaceRoot(), "tools/control-plane/go.mod")`.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { TestingError } from "./testing-error.ts";

/** Returns the nearest directory at or above `from` with an nx.json. Throws TestingError `workspace`. */
export function findWorkspaceRoot(from: string = process.cwd()): string {
  for (let directory = from; ; directory = dirname(directory)) {
    if (existsSync(join(directory, "nx.json"))) return directory;
    if (directory === dirname(directory)) break;
  }
  throw new TestingError("workspace", `no nx.json in ${from} or above it; run this command inside the workspace`);
}
