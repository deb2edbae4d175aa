// SPDX-License-Identifier: Apache-2.0
import { removeUdevRules } from "../upstream/udev-rules.ts";
import type { StepContext } from "./step-context.ts";

/** Forgets that the PF is ours. Comes after everything that gives it back; the record last, as it says what is left to do. */
export async function releasePf({ host, pf }: StepContext): Promise<void> {
  await removeUdevRules(host.files, pf);
  await host.records.remove(pf);
}
