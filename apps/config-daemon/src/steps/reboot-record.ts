// SPDX-License-Identifier: Apache-2.0
/**
 * Reads and writes the record of the last reboot that the daemon started. It is written before the reboot: boot_id tells later
 * whether the node has booted since.
 * Usage: `const record = await readRebootRecord(host.files);`
 */
import type { HostFiles } from "@switchyard/host";
import { isRecord } from "@switchyard/kube";
import { rebootFile } from "@switchyard/plan";
import { isTexts, readJsonFile, writeJsonFile } from "../files/json-file.ts";

export interface RebootRecord {
  /** boot_id of the boot in which the reboot was started. */
  readonly bootId: string;
  readonly causes: readonly string[];
}

/** Returns undefined if there is no record. */
export async function readRebootRecord(files: Pick<HostFiles, "readText">): Promise<RebootRecord | undefined> {
  const value = await readJsonFile(files, rebootFile);
  return isRebootRecord(value) ? value : undefined;
}

export async function writeRebootRecord(files: Pick<HostFiles, "writeText">, record: RebootRecord): Promise<void> {
  await writeJsonFile(files, rebootFile, record);
}

function isRebootRecord(value: unknown): value is RebootRecord {
  return isRecord(value) && typeof value["bootId"] === "string" && isTexts(value["causes"]);
}
