// SPDX-License-Identifier: Apache-2.0
/**
 * readDeviceNodes finds the character devices by which a program in a container uses a VF, in sysfs of the host. Paths in the container
 * are the same as on the host.
 */
import type { PciAddress } from "@switchyard/api";
import type { HostFiles } from "@switchyard/host";

export interface DeviceNodes {
  /** Paths below /dev, in the order in which the device plugin for SR-IOV passes them. */
  readonly paths: readonly string[];
  /** The device of the IOMMU group, "/dev/vfio/12"; absent if the VF is not bound to vfio-pci. */
  readonly vfioGroup?: string;
}

export interface DeviceNodeOptions {
  readonly isVfio: boolean;
  /** Whether the policy passes the RDMA device of the VF (isRdma). */
  readonly isRdma: boolean;
  /** Whether vhost-net is passed: needVhostNet of the policy, or addVhostMount of the claim. */
  readonly isVhost: boolean;
}

type SysfsFiles = Pick<HostFiles, "listNames" | "readLink" | "readText" | "readKind">;

/** Rejects with HostError, and with Error if the VF has no IOMMU group, or no RDMA device that the policy passes. */
export async function readDeviceNodes(
  files: SysfsFiles,
  address: PciAddress,
  { isVfio, isRdma, isVhost }: DeviceNodeOptions,
): Promise<DeviceNodes> {
  const device = `/sys/bus/pci/devices/${address}`;
  const vfioGroup = isVfio ? await readVfioGroup(files, address) : undefined;
  const cdevs = isVfio ? await files.listNames(`${device}/vfio-dev`) : [];
  const rdma = isRdma && !isVfio ? await readRdma(files, address) : [];
  return {
    paths: [
      ...(vfioGroup === undefined ? [] : ["/dev/vfio/vfio", vfioGroup]),
      ...cdevs.filter(isDeviceName).map((name) => `/dev/vfio/devices/${name}`),
      // With the character device of the VF, programs use iommufd instead of the group.
      ...(cdevs.length > 0 && (await files.readKind("/dev/iommu")) !== undefined ? ["/dev/iommu"] : []),
      ...rdma,
      ...(isVhost ? ["/dev/vhost-net", "/dev/net/tun"] : []),
    ],
    ...(vfioGroup !== undefined && { vfioGroup }),
  };
}

/** A group without an IOMMU has the name "vfio-noiommu", and another path (drivers/vfio/group.c, 6.12). */
async function readVfioGroup(files: SysfsFiles, address: PciAddress): Promise<string> {
  const link = `/sys/bus/pci/devices/${address}/iommu_group`;
  const number = (await files.readLink(link))?.split("/").at(-1);
  if (number === undefined || !/^\d+$/.test(number))
    throw new Error(`VF ${address} has no IOMMU group: ${link} is absent`);
  const name = await files.readText(`/sys/kernel/iommu_groups/${number}/name`);
  return name?.trim() === "vfio-noiommu" ? `/dev/vfio/noiommu-${number}` : `/dev/vfio/${number}`;
}

async function readRdma(files: SysfsFiles, address: PciAddress): Promise<readonly string[]> {
  const device = `/sys/bus/pci/devices/${address}`;
  const verbs = (await files.listNames(`${device}/infiniband_verbs`)).filter(isDeviceName);
  if (verbs.length === 0) throw new Error(`VF ${address} has no RDMA device: ${device}/infiniband_verbs is empty`);
  const mads = (await files.listNames(`${device}/infiniband_mad`)).filter(isDeviceName);
  return ["rdma_cm", ...verbs, ...mads].map((name) => `/dev/infiniband/${name}`);
}

/** "vfio3", "uverbs0", "umad1", "issm1". */
function isDeviceName(name: string): boolean {
  return /^[a-z]+\d+$/.test(name);
}
