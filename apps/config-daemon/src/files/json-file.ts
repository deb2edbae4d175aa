// SPDX-License-Identifier: Apache-2.0
/** Reads and writes the daemon's own JSON files on the host. */
import { parseLimitedJson } from "@switchyard/api";
import type { HostFiles } from "@switchyard/host";

/** Returns undefined if the file does not exist or is not JSON. Rejects with HostError. */
export async function readJsonFile(files: Pick<HostFiles, "readText">, path: string): Promise<unknown> {
  const text = await files.readText(path);
  if (text === undefined) return undefined;
  try {
    return parseLimitedJson(text);
  } catch {
    return undefined;
  }
}

/** Rejects with HostError. */
export async function writeJsonFile(files: Pick<HostFiles, "writeText">, path: string, value: object): Promise<void> {
  await files.writeText(path, `${JSON.stringify(value, undefined, 2)}\n`);
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
