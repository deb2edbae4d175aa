// SPDX-License-Identifier: Apache-2.0
/** Runs the steps that change the kernel of the node: modules, arguments, reboots. */
import { HostError, type BootEntry, type Host } from "@switchyard/host";
import { rebootFile, type NodeStep } from "@switchyard/plan";
import {
  readKernelArgumentsRecord,
  readRebootRecord,
  writeKernelArgumentsRecord,
  writeRebootRecord,
} from "../files/boot-records.ts";
import type { NodeStepContext } from "./step-context.ts";

/**
 * Configures arguments in the boot loader and reads them back: a boot loader that reports success without an effect
 * must not lead to a reboot. Removes only arguments that the daemon has added. It can be repeated.
 */
export async function setKernelArguments(
  step: NodeStep<"set-kernel-arguments">,
  { boot, files, kernelArguments }: Host,
): Promise<void> {
  const before = await readKernelArgumentsRecord(files);
  try {
    const present = await kernelArguments.readNext();
    const add = missingIn(present, step.add);
    const remove = step.remove.filter(
      (argument) => before.added.includes(argument) && present.some((entry) => entry.arguments.includes(argument)),
    );
    const added = [...new Set([...before.added, ...add])];
    if (add.length > 0) await writeKernelArgumentsRecord(files, { added });
    if (add.length + remove.length > 0) await kernelArguments.setNext({ add, remove });
    const after = add.length + remove.length > 0 ? await kernelArguments.readNext() : present;
    const missing = missingIn(after, step.add);
    if (missing.length > 0) {
      const at = { action: `add kernel arguments ${missing.join(" ")}`, target: "the boot loader" };
      throw new HostError(at, "EAGAIN", { words: `the boot loader reported success, but ${lackOf(after, missing)}` });
    }
    await writeKernelArgumentsRecord(files, {
      added: added.filter((argument) => !step.remove.includes(argument)),
      configured: { bootId: await boot.readBootId(), arguments: step.add },
    });
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    // The plan does without the arguments while the boot loader fails. If the record cannot be written, the first error counts.
    const { added } = await readKernelArgumentsRecord(files);
    await writeKernelArgumentsRecord(files, { added, error: thrown.message }).catch(() => undefined);
    throw thrown;
  }
}

/** Returns the arguments that not all entries have. */
function missingIn(entries: readonly BootEntry[], wanted: readonly string[]): readonly string[] {
  return wanted.filter(
    (argument) => entries.length === 0 || entries.some((entry) => !entry.arguments.includes(argument)),
  );
}

/** Says what is wrong with the entries, at most two of which are named. */
function lackOf(entries: readonly BootEntry[], missing: readonly string[]): string {
  const lacking = entries.filter((entry) => missing.some((argument) => !entry.arguments.includes(argument)));
  const [first, second] = lacking.map(({ title }) => JSON.stringify(title.slice(0, maxTitle)));
  if (first === undefined) return "it has no boot entry of this system";
  if (second === undefined) return `its boot entry ${first} lacks them`;
  const others = lacking.length - 2;
  if (others === 0) return `its boot entries ${first}, ${second} lack them`;
  if (others === 1) return `its boot entries ${first}, ${second} and 1 other entry lack them`;
  return `its boot entries ${first}, ${second} and ${others} other entries lack them`;
}

const maxTitle = 80;

/** Loads the kernel module unless it is loaded already. */
async function loadModule(step: NodeStep<"load-module">, host: Host): Promise<void> {
  await host.modules.load(step.module);
}

/** Enables vfio without an IOMMU (sriov-operator.md F.10), unless the machine has one. */
async function enableNoIommu(_step: NodeStep<"enable-no-iommu">, host: Host): Promise<void> {
  await host.modules.enableNoIommu();
}

/** Pods with a long grace period and services with a long stop may take this time. */
const shutdownMs = 15 * 60_000;

/**
 * reboot records the causes and reboots the node. A daemon that is killed in between finds the record of its own boot, and
 * reboots the node then. After the boot, the record prevents another reboot for the same causes (libs/plan/src/reboot.ts).
 * Resolves when the daemon is stopped. Rejects with HostError if the node does not shut down.
 */
async function reboot(step: NodeStep<"reboot">, host: Host, { timing, signal }: NodeStepContext): Promise<void> {
  const bootId = await host.boot.readBootId();
  const last = await readRebootRecord(host.files);
  await writeRebootRecord(host.files, { bootId, causes: [...new Set([...(last?.causes ?? []), ...step.causes])] });
  await host.systemd.reboot(`Switchyard reboots this node for ${step.causes.join(", ")}`);
  await timing.sleep(shutdownMs, signal);
  if (signal.aborted) return;
  const words = `the node has not shut down after ${shutdownMs / 60_000} min`;
  throw new HostError({ action: "reboot", target: "the node" }, "ETIMEDOUT", { words });
}

/** Removes causes from the record of the last reboot, and the record with its last cause. */
async function forgetReboots(step: NodeStep<"forget-reboots">, { files }: Host): Promise<void> {
  const record = await readRebootRecord(files);
  if (record === undefined) return;
  const causes = record.causes.filter((cause) => !step.causes.includes(cause));
  if (causes.length > 0) await writeRebootRecord(files, { ...record, causes });
  else await files.remove(rebootFile);
}

/** Runs the steps of this subject, by the names of their kinds. */
export const runKernelSteps = {
  "enable-no-iommu": enableNoIommu,
  "forget-reboots": forgetReboots,
  "load-module": loadModule,
  reboot,
  "set-kernel-arguments": setKernelArguments,
};
