// SPDX-License-Identifier: Apache-2.0
import { isUnicast, parseMacAddress } from "@switchyard/api";
import { HostError } from "@switchyard/host";
import type { AfxdpStep } from "@switchyard/plan";
import type { AfxdpStepContext } from "./step-context.ts";

/** Gives the subfunction its recorded address. A driver that chooses the addresses keeps its own. */
export async function setSubfunctionMac(
  { sfNumber }: AfxdpStep<"set-subfunction-mac">,
  context: AfxdpStepContext,
): Promise<void> {
  const { host, device } = context;
  const mac = parseMacAddress((await context.recordedMac(sfNumber)) ?? "");
  if (!mac.ok || !isUnicast(mac.value)) {
    const words = "the record of the device has none";
    throw new HostError({ action: `look up mac of subfunction ${sfNumber}`, target: device }, "ENOENT", { words });
  }
  try {
    await host.subfunctions.setMac(context.pf(), await context.portOf(sfNumber), mac.value);
  } catch (error) {
    if (!(error instanceof HostError && error.code === "EOPNOTSUPP")) throw error;
  }
}
