// SPDX-License-Identifier: Apache-2.0
import type { AfxdpStep } from "@switchyard/plan";
import type { AfxdpStepContext } from "./step-context.ts";

/** Creates the subfunction unless a daemon that was killed has created it. */
export async function createSubfunction(
  { sfNumber }: AfxdpStep<"create-subfunction">,
  { host, pf, findSubfunction }: AfxdpStepContext,
): Promise<void> {
  if ((await findSubfunction(sfNumber)) === undefined) await host.subfunctions.create(pf(), sfNumber);
}
