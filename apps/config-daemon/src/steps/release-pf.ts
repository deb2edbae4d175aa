// SPDX-License-Identifier: Apache-2.0
import { removeRules } from "../udev/keep-rules.ts";
import { removeUdevRules } from "../upstream/udev-rules.ts";
import type { StepContext } from "./step-context.ts";

/**
 * Removes the udev rules and the record of a PF after its reset. The record is removed last: as long as it exists, the next
 * pass continues the reset.
 */
export async function releasePf(_step: unknown, { host, pf }: StepContext): Promise<void> {
  if (await removeRules(host.files, pf)) await host.udev.reloadRules();
  await removeUdevRules(host.files, pf);
  await host.records.remove(pf);
}
