// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxKernelModules implements KernelModules with /sys/module and modprobe. A module that is loaded costs no fork.
 */
import { constants, promises as fs } from "node:fs";
import { join } from "node:path";
import { isErrno } from "@switchyard/service";
import { operations } from "../../calls/operations.ts";
import { HostError, withHostError, type HostOperation } from "../../calls/host-error.ts";
import type { KernelModules } from "../../ports/kernel.ts";
import { checkKernelName } from "./kernel-names.ts";
import { isModuleLoaded, readNames } from "./read-sysfs.ts";
import { inRoot, runProgram, type Command } from "./run-program.ts";

const timeoutMs = 60_000;

/** `root` is "/" or "/host". In the latter, modprobe runs by chroot. */
export function createLinuxKernelModules(root: string): KernelModules {
  async function load(module: string): Promise<void> {
    checkKernelName(module);
    if (isModuleLoaded(root, module)) return;
    await run(inRoot(root, ["modprobe", "--", module]), operations.modules.load(module));
  }

  return {
    load,
    async enableNoIommu() {
      await load("vfio");
      await withHostError(operations.modules.enableNoIommu(), async () => {
        if ((readNames(join(root, "sys/kernel/iommu_groups")) ?? []).length > 0) return;
        const parameter = join(root, "sys/module/vfio/parameters/enable_unsafe_noiommu_mode");
        await fs.writeFile(parameter, "1", { flag: constants.O_WRONLY });
      });
    },
  };
}

async function run(command: Command, at: HostOperation): Promise<void> {
  const fail = (code: string, words: string, cause?: unknown): HostError => new HostError(at, code, { words, cause });
  const end = await runProgram(command, { timeoutMs }).catch((error: unknown) => {
    throw isErrno(error) ? fail("MODPROBE_FAILED", `${command[0]}: ${error.code}`, error) : error;
  });
  const words = end?.stderr.trim() || `${command[0]} failed`;
  if (end?.code !== 0) throw fail(end === undefined ? "ETIMEDOUT" : "MODPROBE_FAILED", words);
}
