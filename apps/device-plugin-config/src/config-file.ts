// SPDX-License-Identifier: Apache-2.0
/**
 * The plugin's file and, beside it, the record of what the plugin was started for.
 * Usage: `if (!(await isInForce(file, config))) { await writeConfig(file, config.text); …; await writeRecord(file, config.record); }`
 */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { PluginConfig } from "./plugin-config.ts";

/** Whether the plugin has been started for this, or will be: then nothing needs to be done. */
export async function isInForce(file: string, { text, record }: PluginConfig): Promise<boolean> {
  return (await read(file)) === text && (await read(recordOf(file))) === record;
}

/** Replaces the file in one step: the plugin may start at any moment. */
export async function writeConfig(file: string, text: string): Promise<void> {
  await replace(file, text);
}

/** To be called after the plugin was told: killed in between, the follower's next start tells it again. */
export async function writeRecord(file: string, record: string): Promise<void> {
  await replace(recordOf(file), record);
}

function recordOf(file: string): string {
  return `${file}.in-force`;
}

async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function replace(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.new`;
  await writeFile(draft, text);
  await rename(draft, file);
}

function isMissing(error: unknown): boolean {
  return typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT";
}
