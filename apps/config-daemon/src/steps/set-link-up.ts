// SPDX-License-Identifier: Apache-2.0
import type { StepContext } from "./step-context.ts";

/** Sets the network interface of the PF up. */
export async function setLinkUp(_step: unknown, context: StepContext): Promise<void> {
  await context.host.links.setAdminUp((await context.pfLink()).name, true);
}
