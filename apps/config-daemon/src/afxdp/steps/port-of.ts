// SPDX-License-Identifier: Apache-2.0
import { HostError } from "@switchyard/host";
import type { AfxdpStepContext } from "./step-context.ts";

/** Returns the index of the port of the subfunction. Rejects with HostError ENODEV if the subfunction does not exist. */
export async function portOf(
  sfNumber: number,
  { device, findSubfunction }: Pick<AfxdpStepContext, "device" | "findSubfunction">,
): Promise<number> {
  const one = await findSubfunction(sfNumber);
  if (one === undefined)
    throw new HostError({ action: `look up subfunction ${sfNumber}`, target: device }, "ENODEV", {});
  return one.portIndex;
}
