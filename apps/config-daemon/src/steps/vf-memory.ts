// SPDX-License-Identifier: Apache-2.0
/**
 * Finds out why VFs cannot be created for lack of memory. The kernel answers ENOMEM for three causes (drivers/pci/iov.c, 6.12). The
 * IOV BARs have no memory space, which pci=realloc can cure. Or the bridge of the PF has too few bus numbers. Or the driver or its
 * firmware has reached a limit (mlx5).
 */
import type { PciAddress } from "@switchyard/api";
import type { Host } from "@switchyard/host";

/** Why ENOMEM: a sentence, and whether another assignment of memory space by the kernel can help. */
export interface MemoryCause {
  readonly words: string;
  readonly canReassign: boolean;
}

const devices = "/sys/bus/pci/devices";

/** Returns undefined if sysfs does not say it. Rejects with HostError. */
export async function readMemoryCause(
  { files, kernelArguments }: Pick<Host, "files" | "kernelArguments">,
  pf: PciAddress,
  count: number,
): Promise<MemoryCause | undefined> {
  const resources = await files.readText(`${devices}/${pf}/resource`);
  if (resources === undefined) return undefined;
  if (hasUnassignedMemory(resources)) {
    const running = await kernelArguments.readRunning();
    const isTried = running.some((argument) => /^pci=(?:.*,)?realloc(?:=on)?(?:,|$)/.test(argument));
    const tried = isTried
      ? "; pci=realloc is in effect and did not help, so set more memory for PCI in the firmware settings"
      : "";
    return { words: `the PCI bridges have no memory space for the VFs${tried}`, canReassign: true };
  }
  const bus = await readBusCause(files, pf, count);
  const limit = "the driver or the firmware of the card has reached a limit; try fewer VFs";
  return { words: bus ?? limit, canReassign: false };
}

/** Lines 7 to 12 are the IOV BARs: start, end and flags in hexadecimal. One without space starts at 0. */
function hasUnassignedMemory(text: string): boolean {
  const bars = text
    .split("\n")
    .slice(7, 13)
    .map((line) => line.trim().split(/\s+/).map(Number));
  return bars.some(([start = 0, end = 0]) => start === 0 && end > 0) || bars.every(([start = 0]) => start === 0);
}

/** The routing id of VF n is that of the PF plus sriov_offset plus n times sriov_stride; the bits above 8 are the bus. */
async function readBusCause(files: Host["files"], pf: PciAddress, count: number): Promise<string | undefined> {
  const read = async (path: string) => Number((await files.readText(path))?.trim() || Number.NaN);
  const [, bus = "", slot = "", fn = ""] = /^.+:(..):(..)\.(.)$/.exec(pf) ?? [];
  const [bridge] = (await files.readLink(`${devices}/${pf}`))?.split("/").slice(-2) ?? [];
  const [offset, stride, last] = await Promise.all([
    read(`${devices}/${pf}/sriov_offset`),
    read(`${devices}/${pf}/sriov_stride`),
    read(`${devices}/${bridge ?? ""}/subordinate_bus_number`),
  ]);
  const routingId = (Number.parseInt(bus, 16) << 8) + (Number.parseInt(slot, 16) << 3) + Number.parseInt(fn, 16);
  const needed = (routingId + offset + stride * (count - 1)) >> 8;
  if (Number.isNaN(offset + stride + last) || needed <= last) return undefined;
  const hex = (value: number) => value.toString(16).padStart(2, "0");
  return (
    `VF ${count - 1} would be on PCI bus ${hex(needed)}, but the bridge of the PF has bus numbers up to ${hex(last)} only; enable ARI ` +
    "or reserve more bus numbers in the firmware settings"
  );
}
