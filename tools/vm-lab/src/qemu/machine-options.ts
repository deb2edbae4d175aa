// SPDX-License-Identifier: Apache-2.0
/**
 * Defines the options of a guest, and computes its machine from them.
 * Usage: `const machine = await machineFor({ udev: true }, lab, initrd, { agentSocket })`
 */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { imageFiles, type KernelLine } from "../image/image.ts";
import type { Lab, LabRequest } from "../image/lab.ts";
import { maxMemoryMb, maxVirtioVfs, type HostForward, type Machine, type VirtioNic } from "./qemu-arguments.ts";
import { chooseAccelerator } from "../requirements.ts";
import { VmLabError } from "../vm-lab-error.ts";

export interface MachineOptions {
  /** `fast`, the default, has no service manager and takes five seconds instead of twenty. */
  readonly boot?: "fast" | "systemd";
  /** Runs udev in a fast boot, which names interfaces (enp1s0f0) and loads drivers. It takes one second. */
  readonly udev?: boolean | undefined;
  /**
   * Kernel of the guest: 6.12, the default, or the newest kernel of Debian's backports, for what only newer drivers can do. The first
   * boot with the latter builds an image for it, which takes half a minute.
   */
  readonly kernel?: KernelLine | undefined;
  /** Driver of the PFs: igb of Linux, or the test driver with an eswitch, which exists for kernel 6.12. */
  readonly driver?: "igb" | "igbsw" | undefined;
  /**
   * Driver of the VFs: igbvf of Linux, or igbvfsw for kernel 6.12, which is igbvf, also by name, and creates interfaces after
   * lab_interface_ms.
   */
  readonly vfDriver?: "igbvf" | "igbvfsw" | undefined;
  /** Directory of the host that is mounted at /share, writable. */
  readonly share?: string | undefined;
  /** Whether the ports of igb are connected to this machine, which is 10.0.2.2, as for the lab's virtio NIC. */
  readonly igbNetwork?: boolean;
  readonly hostForwards?: readonly HostForward[];
  /** Virtio NICs, which have as many queues as a test wants. They need root. */
  readonly virtioNics?: readonly VirtioNic[];
  /**
   * Number of VFs, at most 7, of a virtio NIC with SR-IOV at 0000:02:00.0, which is connected to its VFs only. Without it, there is
   * no such NIC. It needs a newer QEMU than that of Debian 13 and its predecessors: the first boot with it downloads and unpacks
   * one, which takes half a minute and no root.
   */
  readonly virtioVfs?: number | undefined;
  /** Images of further disks, /dev/vdb and so on. What the guest writes to them is discarded with the guest. */
  readonly disks?: readonly string[];
  /** At most 2048. */
  readonly memMb?: number;
  readonly smp?: number;
  /** CPU model of QEMU. */
  readonly cpu?: string;
  /** Whether the machine has an IOMMU; true by default. */
  readonly iommu?: boolean;
  /** Additional arguments of the kernel, such as `igbsw.lab_vendor=0x15b3`. */
  readonly kernelArguments?: readonly string[];
}

/** Returns what the guest boots from. Throws VmLabError `bad-option`. */
export function labOf({ kernel = "6.12", driver, virtioVfs }: MachineOptions): LabRequest {
  if (driver === "igbsw" && kernel !== "6.12") {
    throw new VmLabError("bad-option", `driver igbsw exists for kernel 6.12 only, not for ${kernel}`);
  }
  return { kernel, virtioVfs: virtioVfs !== undefined };
}

/** Reports whether a virtio NIC can have this number of VFs. */
export function isNumberOfVirtioVfs(count: number): boolean {
  return Number.isInteger(count) && count >= 1 && count <= maxVirtioVfs;
}

/** Rejects with VmLabError `bad-option`. */
export async function machineFor(
  options: MachineOptions,
  lab: Lab,
  initrd: string,
  console: Machine["console"],
): Promise<Machine> {
  const {
    boot = "fast",
    udev = false,
    driver = "igb",
    vfDriver = "igbvf",
    share,
    memMb = maxMemoryMb,
    smp = 2,
    virtioVfs,
  } = options;
  if (memMb > maxMemoryMb) {
    throw new VmLabError(
      "bad-option",
      `memMb ${memMb} is above the maximum of ${maxMemoryMb}: with more memory, VFs of igb get no carrier`,
    );
  }
  if (virtioVfs !== undefined && !isNumberOfVirtioVfs(virtioVfs)) {
    throw new VmLabError("bad-option", `virtioVfs ${virtioVfs} is not a number of VFs from 1 to ${maxVirtioVfs}`);
  }
  if (share !== undefined && !(await isDirectory(share))) {
    throw new VmLabError("bad-option", `share "${share}" is not a directory`);
  }
  const { vmlinux, disk } = imageFiles(lab.image);
  const accelerator = await chooseAccelerator();
  return {
    vmlinux,
    initrd,
    disk,
    accelerator,
    console,
    cpu: options.cpu ?? (accelerator === "kvm" ? "host" : "max"),
    cpus: smp,
    memoryMb: memMb,
    share: share === undefined ? undefined : resolve(share),
    iommu: options.iommu ?? true,
    igbNetwork: options.igbNetwork ?? false,
    hostForwards: options.hostForwards ?? [],
    virtioNics: options.virtioNics ?? [],
    virtioVfs,
    moreDisks: options.disks ?? [],
    kernelArguments: [
      `LAB_INIT=${boot === "fast" ? "/usr/sbin/lab-init" : "/usr/lib/systemd/systemd"}`,
      `LAB_ROLE=${console === "terminal" ? "shell" : "agent"}`,
      `LAB_UDEV=${udev ? 1 : 0} LAB_DRIVER=${driver} LAB_SHARE=${share === undefined ? 0 : 1}`,
      // Both drivers match the NIC, so the other one must not load.
      `modprobe.blacklist=${driver === "igb" ? "igbsw" : "igb"},${vfDriver === "igbvf" ? "igbvfsw" : "igbvf"}`,
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
