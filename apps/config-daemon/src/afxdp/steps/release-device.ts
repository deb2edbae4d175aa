// SPDX-License-Identifier: Apache-2.0
import type { AfxdpStepContext } from "./step-context.ts";

/** Removes the record of the device. */
export async function releaseDevice(_step: unknown, { host, device }: AfxdpStepContext): Promise<void> {
  await host.afxdpRecords.remove(device);
}
