// SPDX-License-Identifier: Apache-2.0
/**
 * setKernelArguments configures arguments in the boot loader and reads them back: a boot loader that reports success without an
 * effect must not lead to a reboot.
 */
import { HostError, type BootEntry, type Host } from "@switchyard/host";
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
  const more = others === 0 ? "" : ` and ${others} other ${others === 1 ? "entry" : "entries"}`;
  return `its boot entries ${first}, ${second}${more} lack them`;
}

const maxTitle = 80;
