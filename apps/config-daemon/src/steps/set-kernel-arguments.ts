// SPDX-License-Identifier: Apache-2.0
/**
 * setKernelArguments configures arguments in the boot loader and reads them back: a boot loader that reports success without an
 * effect must not lead to a reboot.
 */
import { HostError, type Host } from "@switchyard/host";
import type { NodeStep } from "@switchyard/plan";
import { readKernelArgumentsRecord, writeKernelArgumentsRecord } from "./kernel-arguments-record.ts";

/** Removes only arguments that the daemon has added. It can be repeated. */
export async function setKernelArguments(
  step: NodeStep<"set-kernel-arguments">,
  { boot, files, kernelArguments }: Host,
): Promise<void> {
  const before = await readKernelArgumentsRecord(files);
  try {
    const present = await kernelArguments.readNext();
    const add = step.add.filter((argument) => !present.includes(argument));
    const remove = step.remove.filter((argument) => before.added.includes(argument) && present.includes(argument));
    const added = [...new Set([...before.added, ...add])];
    if (add.length > 0) await writeKernelArgumentsRecord(files, { added });
    if (add.length + remove.length > 0) await kernelArguments.setNext({ add, remove });
    const after = add.length + remove.length > 0 ? await kernelArguments.readNext() : present;
    const missing = step.add.filter((argument) => !after.includes(argument));
    if (missing.length > 0) {
      const at = { action: `add kernel arguments ${missing.join(" ")}`, target: "the boot loader" };
      throw new HostError(at, "EAGAIN", { words: "the boot loader reported success, but its boot entries lack them" });
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
