// SPDX-License-Identifier: Apache-2.0
import type { AfxdpStep } from "@switchyard/plan";
import { portOf } from "./port-of.ts";
import type { AfxdpStepContext } from "./step-context.ts";

/** Deactivates the subfunction, and waits until its device is gone. If the device stays, the driver refuses the next step. */
export async function deactivateSubfunction(
  { sfNumber }: AfxdpStep<"deactivate-subfunction">,
  context: AfxdpStepContext,
): Promise<void> {
  await context.host.subfunctions.setActive(context.pf(), await portOf(sfNumber, context), false);
  await context.waitFor(sfNumber, (one) => one?.operationalState !== "attached");
}
