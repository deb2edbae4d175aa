// SPDX-License-Identifier: Apache-2.0
/**
 * What this kernel has of a VF, read from sysfs, which shows the PCI devices of the host in each container. The node
 * state's status is of the daemon's last look: after a reboot it tells of VFs that are gone.
 * Usage: `const vf = await readKernelVf("/", "0000:3b:02.0")`.
 */
import { parsePciAddress } from "@switchyard/api";
import { lstat, readlink, stat } from "node:fs/promises";
import { basename, join } from "node:path";

/** A VF that exists. */
export interface KernelVf {
  /** Absent while none is bound. */
  readonly driver?: string;
  /**
   * Another one each time the VF is made or bound to a driver: sysfs numbers its files once for as long as the kernel
   * runs. A VF of the same address and driver can have another IOMMU group, RDMA device or vDPA device than before,
   * which the device plugin reads when it starts and never again.
   */
  readonly incarnation: string;
}

/** VFs by PCI address; absent where the kernel has none. */
export type KernelVfs = ReadonlyMap<string, KernelVf>;

/** Looks at each address. Rejects where sysfs itself cannot be read. */
export async function readKernelVfs(hostRoot: string, pciAddresses: Iterable<string>): Promise<KernelVfs> {
  const vfs = new Map<string, KernelVf>();
  for (const pciAddress of pciAddresses) {
    const vf = await readKernelVf(hostRoot, pciAddress);
    if (vf !== undefined) vfs.set(pciAddress, vf);
  }
  return vfs;
}

async function readKernelVf(hostRoot: string, pciAddress: string): Promise<KernelVf | undefined> {
  const parsed = parsePciAddress(pciAddress); // of the status, which is anybody's text
  if (!parsed.ok) return undefined;
  const device = join(hostRoot, "sys/bus/pci/devices", parsed.value);
  const made = await unlessGone(stat(device, { bigint: true }));
  if (made === undefined) return undefined;
  const link = join(device, "driver");
  const driver = await unlessGone(readlink(link));
  const bound = await unlessGone(lstat(link, { bigint: true }));
  return {
    ...(driver === undefined ? {} : { driver: basename(driver) }),
    incarnation: `${made.ino}.${bound?.ino ?? "unbound"}`,
  };
}

async function unlessGone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

// ENODEV: removed between the look at its directory and at what is in it.
function isGone(error: unknown): boolean {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ENODEV";
}
