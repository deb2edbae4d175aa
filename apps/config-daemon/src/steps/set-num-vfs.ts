// SPDX-License-Identifier: Apache-2.0
/**
 * setNumVfs creates or removes the VFs of a PF, and waits until udev has named the new interfaces
 * and, in switchdev mode, representors.
 */
import { HostError, type PfRecord } from "@switchyard/host";
import type { PfStep } from "@switchyard/plan";
import { isDeepStrictEqual } from "node:util";
import type { StepContext } from "./step-context.ts";
import { waitForRepresentors } from "./wait-for-representors.ts";

/** The driver created some of the requested VFs, which the kernel does not report as an error. */
export class FewerVfsError extends HostError {
  /** At least one. The other steps of these VFs can run. */
  readonly created: number;

  constructor(requested: number, created: number, pf: string) {
    const words = `the driver created ${created} ${created === 1 ? "VF" : "VFs"}`;
    super({ action: `set sriov_numvfs ${requested}`, target: pf }, "EAGAIN", { words });
    this.created = created;
  }
}

/** Rejects with FewerVfsError if the driver creates fewer VFs than requested, and records that. */
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
  if (created === 0 && step.to > 0) {
    // bnxt_en ignores each write while its interface is down or its firmware is being reset (6.12): not a limit.
    const words = "the driver created 0 VFs";
    throw new HostError({ action: `set sriov_numvfs ${step.to}`, target: pf }, "EAGAIN", { words });
  }
  if (step.to > 0) await recordCreated({ requested: step.to, created }, context);
  if (step.to > 0 && (await host.devlink.readEswitchMode(pf)) === "switchdev") await waitForRepresentors(context);
  if (created !== step.to) throw new FewerVfsError(step.to, created, pf);
}

/** Records a driver that created fewer VFs than requested (bnxt_en does), and forgets it when the driver creates all. */
async function recordCreated(
  { requested, created }: NonNullable<PfRecord["fewerVfs"]>,
  { host, pf }: StepContext,
): Promise<void> {
  const record = (await host.records.list()).get(pf);
  if (record === undefined) return;
  const { fewerVfs, ...others } = record;
  const isStillKnown = fewerVfs !== undefined && requested < fewerVfs.requested;
  const next = created < requested ? { ...others, fewerVfs: { requested, created } } : isStillKnown ? record : others;
  if (!isDeepStrictEqual(next, record)) await host.records.save(pf, next);
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
