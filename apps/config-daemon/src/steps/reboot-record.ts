// SPDX-License-Identifier: Apache-2.0
/**
 * Reads and writes the record of the last reboot that the daemon started. It is written before the reboot: boot_id tells later
 * whether the node has booted since.
 * Usage: `const record = await readRebootRecord(host.files);`
 */
import type { HostFiles } from "@switchyard/host";
import { rebootFile } from "@switchyard/plan";

export interface RebootRecord {
  /** boot_id of the boot in which the reboot was started. */
  readonly bootId: string;
  readonly causes: readonly string[];
}

/** Returns undefined if there is no record. */
export async function readRebootRecord(files: Pick<HostFiles, "readText">): Promise<RebootRecord | undefined> {
  const text = await files.readText(rebootFile);
  if (text === undefined) return undefined;
  const value = parseJson(text);
  return isRecord(value) ? value : undefined;
}

export async function writeRebootRecord(files: Pick<HostFiles, "writeText">, record: RebootRecord): Promise<void> {
  await files.writeText(rebootFile, `${JSON.stringify(record, undefined, 2)}\n`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is RebootRecord {
  if (typeof value !== "object" || value === null || !("bootId" in value) || !("causes" in value)) return false;
  const { bootId, causes } = value;
  return typeof bootId === "string" && Array.isArray(causes) && causes.every((cause) => typeof cause === "string");
}
