// SPDX-License-Identifier: Apache-2.0
import { HostError } from "@switchyard/host";
import type { AfxdpStep } from "@switchyard/plan";
import type { AfxdpStepContext } from "./step-context.ts";

/** Deletes the subfunction if it exists. The ports of the others stay what they are. */
export async function deleteSubfunction(
  { sfNumber }: AfxdpStep<"delete-subfunction">,
  { host, pf, findSubfunction }: AfxdpStepContext,
): Promise<void> {
  const one = await findSubfunction(sfNumber);
  if (one === undefined) return;
  try {
    await host.subfunctions.remove(pf(), one.portIndex);
  } catch (error) {
    if (!(error instanceof HostError && error.code === "ENODEV")) throw error;
  }
}
