// SPDX-License-Identifier: Apache-2.0
import { HostError } from "@switchyard/host";
import { representorsOf } from "../observe/representors.ts";
import type { StepContext } from "./step-context.ts";

const pollMs = 50;

/**
 * Waits until each VF of the PF has a representor, with its name by udev. Rejects with HostError ETIMEDOUT that names the first
 * VF without one.
 */
export async function waitForRepresentors(context: StepContext): Promise<void> {
  const { host, pf, timing, signal } = context;
  const facts = await host.sriov.readPf(pf);
  const vfs = facts?.sriov?.vfs ?? [];
  const deadlineMs = timing.nowMs() + timing.linkTimeoutMs;
  for (;;) {
    context.forgetLinks(); // names can be stale
    const uplink = await context.pfLink();
    const representors = representorsOf(await host.links.listLinks(), uplink, {
      pciAddress: pf,
      driver: facts?.driver,
    });
    const missing = vfs.find(({ vfId }) => !representors.has(vfId));
    if (missing === undefined) return;
    if (timing.nowMs() >= deadlineMs || signal.aborted) {
      const words = `VF ${missing.vfId} of ${pf} has no representor after ${timing.linkTimeoutMs / 1000} s`;
      throw new HostError({ action: "wait for representors", target: pf }, "ETIMEDOUT", { words });
    }
    await timing.sleep(pollMs, signal);
  }
}
