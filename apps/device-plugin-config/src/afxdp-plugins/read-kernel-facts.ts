// SPDX-License-Identifier: Apache-2.0
/**
 * readKernelFacts reads what the plugin depends on: the release of the kernel, and whether unprivileged processes may use BPF.
 * Usage: `const { kernelRelease } = await readKernelFacts("/");`
 */
import type { AfxdpPluginsFacts } from "@switchyard/render";
import { isErrno } from "@switchyard/service";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

export type KernelFacts = Pick<AfxdpPluginsFacts, "kernelRelease" | "unprivilegedBpfDisabled">;

/** `root` has proc/sys. A kernel without a parameter has no value of it. */
export async function readKernelFacts(root: string): Promise<KernelFacts> {
  const [kernelRelease, unprivilegedBpfDisabled] = await Promise.all(
    ["osrelease", "unprivileged_bpf_disabled"].map((name) => readParameter(join(root, "proc/sys/kernel", name))),
  );
  return { kernelRelease, unprivilegedBpfDisabled };
}

async function readParameter(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}
