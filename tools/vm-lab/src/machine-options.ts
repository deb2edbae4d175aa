// SPDX-License-Identifier: Apache-2.0
/**
 * What can be chosen about a guest, and the machine that the choice comes to.
 * Usage: `const machine = await machineFor({ udev: true }, lab, initrd, { agentSocket })`
 */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { imageFiles } from "./image.ts";
import type { Lab } from "./lab.ts";
import { maxMemoryMb, type HostForward, type Machine } from "./qemu-arguments.ts";
import { chooseAccelerator } from "./requirements.ts";
import { VmLabError } from "./vm-lab-error.ts";

export interface MachineOptions {
  /** `fast`, the default, has no service manager: five seconds rather than twenty. */
  readonly boot?: "fast" | "systemd";
  /** Runs udev in a fast boot, so that interfaces have their real names (enp1s0f0) and drivers load by themselves: one second. */
  readonly udev?: boolean;
  /** The driver of the PFs: Linux's own, or the test driver with an eswitch, which implies `withModules`. */
  readonly driver?: "igb" | "igbsw";
  /** Also the modules that Debian leaves out: igbsw, netdevsim, vdpa_sim_net, vp_vdpa. Building them takes half a minute, once. */
  readonly withModules?: boolean;
  /** A directory of the host, which the guest has at /share, writable. */
  readonly share?: string;
  readonly hostForwards?: readonly HostForward[];
  /** At most 2048. */
  readonly memMb?: number;
  readonly smp?: number;
  /** A CPU model of QEMU's. */
  readonly cpu?: string;
  /** More words for the kernel, such as `igbsw.lab_vendor=0x15b3`. */
  readonly kernelArguments?: readonly string[];
}

/** Whether the guest is to have the modules that Debian leaves out. */
export function needsModules({ withModules, driver }: MachineOptions): boolean {
  return withModules ?? driver === "igbsw";
}

/** Rejects with VmLabError `bad-option`. */
export async function machineFor(
  options: MachineOptions,
  lab: Lab,
  initrd: string,
  console: Machine["console"],
): Promise<Machine> {
  const { boot = "fast", udev = false, driver = "igb", share, memMb = maxMemoryMb, smp = 2 } = options;
  if (memMb > maxMemoryMb) {
    throw new VmLabError("bad-option", `memMb ${memMb}: with more than ${maxMemoryMb} igb's VFs get no carrier`);
  }
  if (driver === "igbsw" && lab.modules === undefined) {
    throw new VmLabError("bad-option", "the driver igbsw is one of the extra modules: ask for them too");
  }
  if (share !== undefined && !(await isDirectory(share))) {
    throw new VmLabError("bad-option", `share ${share}: no such directory`);
  }
  const { vmlinux, disk } = imageFiles(lab.image);
  const accelerator = await chooseAccelerator();
  return {
    ...{ vmlinux, initrd, disk, accelerator, console },
    cpu: options.cpu ?? (accelerator === "kvm" ? "host" : "max"),
    cpus: smp,
    memoryMb: memMb,
    ...(share === undefined ? {} : { share: resolve(share) }),
    hostForwards: options.hostForwards ?? [],
    kernelArguments: [
      `LAB_INIT=${boot === "fast" ? "/usr/sbin/lab-init" : "/usr/lib/systemd/systemd"}`,
      `LAB_ROLE=${console === "terminal" ? "shell" : "agent"}`,
      `LAB_UDEV=${udev ? 1 : 0} LAB_DRIVER=${driver} LAB_SHARE=${share === undefined ? 0 : 1}`,
      // Both drivers have the alias of the NIC.
      `modprobe.blacklist=${driver === "igb" ? "igbsw" : "igb"}`,
      ...(options.kernelArguments ?? []),
    ],
  };
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
