// SPDX-License-Identifier: Apache-2.0
/** Checks what the lab needs on this machine. */
import { execFile } from "node:child_process";
import { access, constants, readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/** For each group of packages in image/deps.sh, the programs that show that it is installed. */
export const programsOf = {
  image: ["mmdebstrap", "busybox", "depmod", "mke2fs", "xz", "dpkg", "apt-get"],
  modules: ["gcc", "make", "patch", "xz", "dpkg", "apt-get"],
  qemu: ["apt-get", "apt-cache", "dpkg-deb"],
} as const;

/** The QEMU that the lab starts. */
export const qemuProgram = "qemu-system-x86_64";

/** The message if this QEMU is missing. */
export const qemuAdvice =
  `${qemuProgram} with the igb device (QEMU 8.0 or later) is not installed; run "npm run vm -- deps" as root on ` +
  "Debian 12 or 13, which installs QEMU from the distribution or its backports";

/** Reports whether QEMU is installed and emulates a NIC with SR-IOV. */
export async function hasQemu(): Promise<boolean> {
  return (await deviceHelp(qemuProgram, "help")).includes('name "igb"');
}

/** Reports whether this QEMU emulates virtio NICs with SR-IOV. 10.0 does not, and 11.1 does. */
export async function hasVirtioVfs(program: string): Promise<boolean> {
  return (await deviceHelp(program, "virtio-net-pci,help")).includes("sriov-pf=");
}

/** Returns "" if the program is not on PATH, or cannot start. */
async function deviceHelp(program: string, device: string): Promise<string> {
  try {
    return (await promisify(execFile)(program, ["-device", device], { maxBuffer: 1 << 24 })).stdout;
  } catch {
    return "";
  }
}

/** Returns the programs that are not on PATH. */
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

/** Builds need root because they use chroot and create device nodes. */
export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

/**
 * Returns "kvm" if the user can open /dev/kvm and the processor has the flag vmx or svm. A nested /dev/kvm without these flags
 * does not run a stock kernel.
 */
export async function chooseAccelerator(): Promise<"kvm" | "tcg"> {
  try {
    await access("/dev/kvm", constants.R_OK | constants.W_OK);
    return /\b(?:vmx|svm)\b/.test(await readFile("/proc/cpuinfo", "utf8")) ? "kvm" : "tcg";
  } catch {
    return "tcg";
  }
}
