// SPDX-License-Identifier: Apache-2.0
/**
 * Creates or removes the VFs of a PF, and waits until udev has named what came.
 */
import { HostError } from "@switchyard/host";
import type { SetNumVfs } from "@switchyard/plan";
import type { StepContext } from "./step-context.ts";

/** Fewer VFs than asked is an error, though the kernel reports none: a driver may be short of a resource. */
export async function setNumVfs(step: SetNumVfs, context: StepContext): Promise<void> {
  const { host, pf } = context;
  const before = await host.sriov.readPf(pf);
  const existing = before?.sriov?.numVfs ?? 0;
  if (existing !== step.to) {
    context.forget();
    // The kernel refuses one non-zero count after another with EBUSY.
    if (existing > 0) await host.sriov.setNumVfs(pf, 0);
    if (step.to > 0) await host.sriov.setNumVfs(pf, step.to);
    await context.settle(); // udev loads the VFs' driver; it shall not come between what follows.
  }
  const came = (await host.sriov.readPf(pf))?.sriov?.vfs.length ?? 0;
  if (came !== step.to) {
    const words = `the driver made ${came} VFs`;
    throw new HostError({ tried: `set sriov_numvfs ${step.to}`, target: pf }, "EAGAIN", { words });
  }
}
