// SPDX-License-Identifier: Apache-2.0
/**
 * Parses the arguments of `config-daemon cleanup`.
 * Usage: `parseCleanupArguments(["--dry-run"])`.
 */
import { err, ok, type Result } from "@switchyard/api";
import { parseArgs } from "node:util";

export interface CleanupArguments {
  readonly hostRoot: string;
  readonly keepsVfs: boolean;
  readonly isDryRun: boolean;
}

export const cleanupUsage = "usage: config-daemon cleanup [--keep-vfs] [--dry-run] [--host-root DIR]";

/** Returns the usage, after the reason, for arguments that do not exist. */
export function parseCleanupArguments(args: readonly string[]): Result<CleanupArguments, string> {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        "keep-vfs": { type: "boolean", default: false },
        "dry-run": { type: "boolean", default: false },
        "host-root": { type: "string", default: "/host" },
      },
    });
    return ok({ hostRoot: values["host-root"], keepsVfs: values["keep-vfs"], isDryRun: values["dry-run"] });
  } catch (error) {
    if (!isOfParseArgs(error)) throw error;
    return err(`${error.message}\n${cleanupUsage}`);
  }
}

function isOfParseArgs(error: unknown): error is { readonly message: string } {
  if (typeof error !== "object" || error === null || !("code" in error) || !("message" in error)) return false;
  return String(error.code).startsWith("ERR_PARSE_ARGS") && typeof error.message === "string";
}
