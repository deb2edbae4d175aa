// SPDX-License-Identifier: Apache-2.0
/** The steps that change a network interface: its MTU, its queues and its link. */
import type { AfxdpStep } from "@switchyard/plan";
import type { AfxdpStepContext } from "./step-context.ts";

/** Sets the MTU. */
export async function setMtu({ sfNumber, to }: AfxdpStep<"set-mtu">, context: AfxdpStepContext): Promise<void> {
  await context.host.links.setMtu(await context.interfaceName(sfNumber), to);
}

/** Sets the number of queues unless the interface has it: some drivers reset the link for each request. */
export async function setQueues({ sfNumber, to }: AfxdpStep<"set-queues">, context: AfxdpStepContext): Promise<void> {
  const { xdp } = context.host;
  const name = await context.interfaceName(sfNumber);
  if ((await xdp.readQueues(name))?.count !== to) await xdp.setQueues(name, to);
}

/** Sets the link of the device up. */
export async function setLinkUp(_step: AfxdpStep<"set-link-up">, context: AfxdpStepContext): Promise<void> {
  await context.host.links.setAdminUp(await context.interfaceName(undefined), true);
}
