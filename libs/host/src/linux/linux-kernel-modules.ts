// SPDX-License-Identifier: Apache-2.0
/**
 * KernelModules by /sys/module and modprobe; a module that is there costs no fork.
 * Usage: `createLinuxKernelModules("/host")`.
 */
import { execFile } from "node:child_process";
import { attempts } from "../calls/operations.ts";
import { HostError } from "../calls/host-error.ts";
import type { KernelModules } from "../ports/kernel-modules.ts";
import { checkKernelName } from "./kernel-name.ts";
import { isModuleLoaded } from "./loaded-module.ts";

const timeoutMs = 60_000;

/** KernelModules of the tree at `root`: "/" or "/host", where modprobe runs by chroot. */
export function createLinuxKernelModules(root: string): KernelModules {
  return {
    async load(module) {
      checkKernelName(module);
      if (await isModuleLoaded(root, module)) return;
      const modprobe = ["modprobe", "--", module] as const;
      const [program, ...args] = root === "/" ? modprobe : (["chroot", root, ...modprobe] as const);
      await run(program, args, attempts.modules.load(module));
    },
  };
}

function run(program: string, args: readonly string[], at: HostError["at"]): Promise<void> {
  // Nothing of our own environment: modprobe takes options from there (MODPROBE_OPTIONS), and the loader libraries.
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
