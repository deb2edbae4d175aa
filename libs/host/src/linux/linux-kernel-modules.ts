// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxKernelModules implements KernelModules with /sys/module and modprobe. A module that is loaded costs no fork.
 * Usage: `await createLinuxKernelModules("/host").load("vfio-pci")`.
 */
import { execFile } from "node:child_process";
import { constants, promises as fs } from "node:fs";
import { join } from "node:path";
import { operations } from "../calls/operations.ts";
import { HostError, withHostError, type HostOperation } from "../calls/host-error.ts";
import type { KernelModules } from "../ports/kernel-modules.ts";
import { checkKernelName } from "./kernel-name.ts";
import { isModuleLoaded } from "./loaded-module.ts";
import { readNames } from "./read-sysfs.ts";

const timeoutMs = 60_000;

/** `root` is "/" or "/host". In the latter, modprobe runs by chroot. */
export function createLinuxKernelModules(root: string): KernelModules {
  async function load(module: string): Promise<void> {
    checkKernelName(module);
    if (await isModuleLoaded(root, module)) return;
    const modprobe = ["modprobe", "--", module] as const;
    const [program, ...args] = root === "/" ? modprobe : (["chroot", root, ...modprobe] as const);
    await run(program, args, operations.modules.load(module));
  }

  return {
    load,
    async enableNoIommu() {
      await load("vfio");
      await withHostError(operations.modules.enableNoIommu(), async () => {
        if (((await readNames(join(root, "sys/kernel/iommu_groups"))) ?? []).length > 0) return;
        const parameter = join(root, "sys/module/vfio/parameters/enable_unsafe_noiommu_mode");
        await fs.writeFile(parameter, "1", { flag: constants.O_WRONLY });
      });
    },
  };
}

function run(program: string, args: readonly string[], at: HostOperation): Promise<void> {
  // The environment is not inherited: modprobe reads options from it (MODPROBE_OPTIONS), and the loader reads library paths.
  const options = { timeout: timeoutMs, env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" } };
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (error, _stdout, stderr) => {
      if (error === null) {
        resolve();
        return;
      }
      const words =
        stderr.trim() || (typeof error.code === "string" ? `${program}: ${error.code}` : `${program} failed`);
      reject(new HostError(at, error.killed ? "ETIMEDOUT" : "MODPROBE_FAILED", { words, cause: error }));
    });
  });
}
