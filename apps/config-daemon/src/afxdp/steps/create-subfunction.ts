// SPDX-License-Identifier: Apache-2.0
import { HostError } from "@switchyard/host";
import type { AfxdpStep } from "@switchyard/plan";
import type { AfxdpStepContext } from "./step-context.ts";

/** Creates the subfunction unless a daemon that was killed has created it. */
export async function createSubfunction(
  { sfNumber }: AfxdpStep<"create-subfunction">,
  { host, pf, findSubfunction, changed }: AfxdpStepContext,
): Promise<void> {
  try {
    changed({ sfNumber, portIndex: await host.subfunctions.create(pf(), sfNumber) });
  } catch (error) {
    const isInUse = error instanceof HostError && (error.code === "EBUSY" || error.code === "EEXIST");
    if (!isInUse) throw error;
    changed();
    if ((await findSubfunction(sfNumber)) === undefined) throw error;
  }
}
