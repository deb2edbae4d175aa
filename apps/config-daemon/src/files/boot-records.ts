// SPDX-License-Identifier: Apache-2.0
/** The records of the kernel arguments that the daemon configured and of the last reboot that it started. */
import type { HostFiles } from "@switchyard/host";
import { isRecord } from "@switchyard/kube";
import { rebootFile } from "@switchyard/plan";
import { isTexts, readJsonFile, writeJsonFile } from "./json-file.ts";

export interface KernelArgumentsRecord {
  /** Arguments that the daemon has added to the boot loader, or is adding. */
  readonly added: readonly string[];
  /** Arguments that the boot loader was seen to have, in the boot with this boot_id. */
  readonly configured?: { readonly bootId: string; readonly arguments: readonly string[] };
  /** Why the last change failed. */
  readonly error?: string;
}

export const kernelArgumentsFile = "/etc/sriov-operator/kernel-arguments.json";

/** A file that is not a record counts as an empty one: then nothing is removed. */
export async function readKernelArgumentsRecord(files: Pick<HostFiles, "readText">): Promise<KernelArgumentsRecord> {
  const value = await readJsonFile(files, kernelArgumentsFile);
  return isArgumentsRecord(value) ? value : { added: [] };
}

export async function writeKernelArgumentsRecord(
  files: Pick<HostFiles, "writeText">,
  record: KernelArgumentsRecord,
): Promise<void> {
  await writeJsonFile(files, kernelArgumentsFile, record);
}

function isArgumentsRecord(value: unknown): value is KernelArgumentsRecord {
  if (!isRecord(value) || !isTexts(value["added"])) return false;
  const { configured, error } = value;
  return (
    (error === undefined || typeof error === "string") &&
    (configured === undefined ||
      (isRecord(configured) && typeof configured["bootId"] === "string" && isTexts(configured["arguments"])))
  );
}

/**
 * The last reboot that the daemon started. The record is written before the reboot: boot_id tells later whether the node has
 * booted since.
 */
interface RebootRecord {
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
