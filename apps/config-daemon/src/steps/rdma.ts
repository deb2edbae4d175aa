// SPDX-License-Identifier: Apache-2.0
/** Runs the steps that change the RDMA mode of the node. */
import { HostError, type Host } from "@switchyard/host";
import type { NodeStep } from "@switchyard/plan";
import { writePersistentRdmaMode, writeRefusedRdmaMode } from "../files/rdma-mode-file.ts";

/** Writes the mode that ib_core gets when it is loaded. */
async function setPersistentRdmaMode(step: NodeStep<"set-persistent-rdma-mode">, host: Host): Promise<void> {
  await writePersistentRdmaMode(host.files, step.to, step.initial);
}

/**
 * Changes the mode of the running kernel. A refusal with EBUSY is recorded. The node reboots because of it, unless it only
 * returns to its initial mode: then the next boot changes the mode, and the status has both modes until then.
 */
async function setRdmaMode(step: NodeStep<"set-rdma-mode">, host: Host): Promise<void> {
  try {
    await host.rdma.setMode(step.to);
  } catch (thrown) {
    if (!(thrown instanceof HostError && thrown.code === "EBUSY")) throw thrown;
    await writeRefusedRdmaMode(host.files, step.to);
    if (step.isReturn === true) return;
    const words = "other network namespaces exist, such as those of pods; the node must reboot to change the mode";
    throw new HostError(thrown.operation, thrown.code, { words, cause: thrown });
  }
}

/** Runs the steps of this subject, by the names of their kinds. */
export const runRdmaSteps = {
  "set-persistent-rdma-mode": setPersistentRdmaMode,
  "set-rdma-mode": setRdmaMode,
};
