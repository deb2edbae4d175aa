// SPDX-License-Identifier: Apache-2.0
/**
 * What the lab needs of this machine, and the words for what is missing.
 * Usage: `if (!(await hasQemu())) throw new VmLabError("qemu-missing", qemuAdvice)`
 */
import { execFile } from "node:child_process";
import { access, constants, readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/** Groups of packages in image/deps.sh, and the programs that show that they are installed. */
export const programsOf = {
  image: ["mmdebstrap", "busybox", "depmod", "mke2fs", "xz", "dpkg", "apt-get"],
  modules: ["gcc", "make", "patch", "xz", "dpkg", "apt-get"],
} as const;

/** The QEMU that the lab starts. */
export const qemuProgram = "qemu-system-x86_64";

/** What to do when there is no such QEMU. */
export const qemuAdvice =
  `${qemuProgram} with the igb device (QEMU 8.0 or later) is not installed: run "npm run vm -- deps" as root, ` +
  "on Debian 12 or 13; it takes QEMU from the distribution or its backports";

/** Whether the lab's QEMU is there and emulates a NIC with SR-IOV. */
export async function hasQemu(): Promise<boolean> {
  try {
    const { stdout } = await promisify(execFile)(qemuProgram, ["-device", "help"], { maxBuffer: 1 << 24 });
    return stdout.includes('name "igb"');
  } catch {
    return false; // not on PATH, or not able to start
  }
}

/** Those of `programs` that are not on PATH. */
export async function missingPrograms(programs: readonly string[]): Promise<string[]> {
  const directories = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"];
  const found = await Promise.all(
    programs.map((program) =>
      Promise.any(directories.map((directory) => access(join(directory, program), constants.X_OK))).then(
        () => true,
        () => false,
      ),
    ),
  );
  return programs.filter((_, index) => found[index] !== true);
}

/** Builds chroot and make device nodes: they need root. */
export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

/**
 * KVM only where the processor says that it has it, and the user may: a /dev/kvm without either flag is a nested one that
 * does not run a stock kernel (vm-lab/FINDINGS.md 2).
 */
export async function chooseAccelerator(): Promise<"kvm" | "tcg"> {
  try {
    await access("/dev/kvm", constants.R_OK | constants.W_OK);
    return /\b(?:vmx|svm)\b/.test(await readFile("/proc/cpuinfo", "utf8")) ? "kvm" : "tcg";
  } catch {
    return "tcg";
  }
}
