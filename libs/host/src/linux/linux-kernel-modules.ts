// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxKernelModules implements KernelModules with /sys/module and modprobe. A module that is loaded costs no fork.
 * Usage: `await createLinuxKernelModules("/host").load("vfio-pci")`.
 */
import { execFile } from "node:child_process";
import { operations } from "../calls/operations.ts";
import { HostError, type HostOperation } from "../calls/host-error.ts";
import type { KernelModules } from "../ports/kernel-modules.ts";
import { checkKernelName } from "./kernel-name.ts";
import { isModuleLoaded } from "./loaded-module.ts";

const timeoutMs = 60_000;

/** `root` is "/" or "/host". In the latter, modprobe runs by chroot. */
export function createLinuxKernelModules(root: string): KernelModules {
  return {
    async load(module) {
      checkKernelName(module);
      if (await isModuleLoaded(root, module)) return;
      const modprobe = ["modprobe", "--", module] as const;
      const [program, ...args] = root === "/" ? modprobe : (["chroot", root, ...modprobe] as const);
      await run(program, args, operations.modules.load(module));
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
