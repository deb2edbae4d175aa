// SPDX-License-Identifier: Apache-2.0
/**
 * setNumVfs creates or removes the VFs of a PF, and waits until udev has named the new interfaces
 * and, in switchdev mode, representors.
 */
import { HostError } from "@switchyard/host";
import type { PfStep } from "@switchyard/plan";
import type { StepContext } from "./step-context.ts";
import { waitForRepresentors } from "./wait-for-representors.ts";

/** Fails if the driver creates fewer VFs than requested, which the kernel does not report as an error. */
export async function setNumVfs(step: PfStep<"set-num-vfs">, context: StepContext): Promise<void> {
  const { host, pf } = context;
  const before = await host.sriov.readPf(pf);
  const existing = before?.sriov?.numVfs ?? 0;
  if (existing !== step.to) {
    context.forget();
    // The kernel refuses a change between two non-zero numbers with EBUSY.
    if (existing > 0) await host.sriov.setNumVfs(pf, 0);
    if (step.to > 0) await createVfs(step.to, context);
    await context.settle(); // udev loads the driver of the VFs, which must not interfere with the next steps.
  }
  const created = (await host.sriov.readPf(pf))?.sriov?.vfs.length ?? 0;
  if (created !== step.to) {
    const words = `the driver created ${created} VFs`;
    throw new HostError({ action: `set sriov_numvfs ${step.to}`, target: pf }, "EAGAIN", { words });
  }
  if (step.to > 0 && (await host.devlink.readEswitchMode(pf)) === "switchdev") await waitForRepresentors(context);
}

/**
 * Records that the PCI bridges have no memory space for this number of VFs, for which the plan requests pci=realloc
 * (sriov-operator.md M-5).
 */
async function createVfs(count: number, { host, pf }: StepContext): Promise<void> {
  try {
    await host.sriov.setNumVfs(pf, count);
  } catch (thrown) {
    if (thrown instanceof HostError && thrown.code === "ENOMEM") {
      const record = (await host.records.list()).get(pf);
      const before = record?.numVfsWithoutMemory ?? count;
      if (record) await host.records.save(pf, { ...record, numVfsWithoutMemory: Math.min(before, count) });
    }
    throw thrown;
  }
}
