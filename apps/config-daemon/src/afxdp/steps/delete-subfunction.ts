// SPDX-License-Identifier: Apache-2.0
import type { AfxdpStep } from "@switchyard/plan";
import type { AfxdpStepContext } from "./step-context.ts";

/** Deletes the subfunction if it exists. */
export async function deleteSubfunction(
  { sfNumber }: AfxdpStep<"delete-subfunction">,
  { host, pf, findSubfunction }: AfxdpStepContext,
): Promise<void> {
  const one = await findSubfunction(sfNumber);
  if (one !== undefined) await host.subfunctions.remove(pf(), one.portIndex);
}
