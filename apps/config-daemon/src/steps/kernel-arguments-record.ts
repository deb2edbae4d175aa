// SPDX-License-Identifier: Apache-2.0
/**
 * Reads and writes the record of the kernel arguments that the daemon configured. It is written before an argument is added, so
 * a daemon that is killed in between never leaves an argument without a record. Arguments that were there before are not ours.
 * Usage: `const record = await readKernelArgumentsRecord(host.files);`
 */
import type { HostFiles } from "@switchyard/host";
import { isRecord } from "@switchyard/kube";
import { isTexts, readJsonFile, writeJsonFile } from "../files/json-file.ts";

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
