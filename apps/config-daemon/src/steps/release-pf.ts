// SPDX-License-Identifier: Apache-2.0
import type { StepContext } from "./step-context.ts";

/** Forgets that the PF is ours. Comes after everything that gives it back. */
export async function releasePf(context: StepContext): Promise<void> {
  await context.host.records.remove(context.pf);
}
