// SPDX-License-Identifier: Apache-2.0
import type { Host } from "@switchyard/host";
import { rebootFile, type NodeStep } from "@switchyard/plan";
import { readRebootRecord, writeRebootRecord } from "./reboot-record.ts";

/** Removes causes from the record of the last reboot, and the record with its last cause. */
export async function forgetReboots(step: NodeStep<"forget-reboots">, { files }: Host): Promise<void> {
  const record = await readRebootRecord(files);
  if (record === undefined) return;
  const causes = record.causes.filter((cause) => !step.causes.includes(cause));
  if (causes.length > 0) await writeRebootRecord(files, { ...record, causes });
  else await files.remove(rebootFile);
}
