// SPDX-License-Identifier: Apache-2.0
/**
 * findDeviceLinks finds the network interfaces of the node that could be AF_XDP devices: those of network cards, also of virtual
 * machines, and both ends of a veth pair of the host. VFs, representors, subfunctions and the interfaces of pods are left out.
 */
import { HostError, type Host, type Link, type NetDevice, type SysfsPf } from "@switchyard/host";
import { isRepresentor, uplinkAmong } from "../../observe/interface-status.ts";

/** A device that could be an AF_XDP device. */
export interface DeviceLink {
  /** PCI address, or the name of an interface without one. */
  readonly id: string;
  readonly pf: SysfsPf | undefined;
  /** Absent while the interface is in a pod, or while no driver is bound. */
  readonly link: Link | undefined;
  /** The device of `link`. */
  readonly netDevice: NetDevice;
}

/** What the kernel reports. */
export interface DeviceSources {
  readonly pfs: readonly SysfsPf[];
  readonly links: readonly Link[];
}

/** Returns the devices by their identity, those on the PCI bus first. */
export async function findDeviceLinks(
  host: Pick<Host, "xdp">,
  { pfs, links }: DeviceSources,
): Promise<ReadonlyMap<string, DeviceLink>> {
  const vfs = new Set<string>(pfs.flatMap(({ sriov }) => sriov?.vfs.map(({ pciAddress }) => pciAddress) ?? []));
  const byPci = new Map<string, Link[]>();
  const others: DeviceLink[] = [];
  const netDevices = new Map<Link, NetDevice>();
  const candidates = links.filter((each) => each.type === "ether" && isCandidate(each, links));
  const read = await Promise.all(
    candidates.map(async (link) => ({
      link,
      netDevice: await orIfGone(() => host.xdp.readDevice(link.name), undefined),
    })),
  );
  for (const { link, netDevice } of read) {
    if (netDevice === undefined) continue;
    netDevices.set(link, netDevice);
    const address = link.parent?.bus === "pci" ? link.parent.name : netDevice.pciAddress;
    if (address === undefined) others.push({ id: link.name, pf: undefined, link, netDevice });
    else if (!vfs.has(address)) byPci.set(address, [...(byPci.get(address) ?? []), link]);
  }
  const cards = pfs.map((pf): DeviceLink => {
    const link = uplinkAmong(byPci.get(pf.pciAddress) ?? []);
    return { id: pf.pciAddress, pf, link, netDevice: (link && netDevices.get(link)) ?? {} };
  });
  others.sort((a, b) => (a.id < b.id ? -1 : 1));
  return new Map([...cards, ...others].map((each) => [each.id, each]));
}

/** The interfaces of containers have their other end in another network namespace. */
function isCandidate(link: Link, links: readonly Link[]): boolean {
  const { parent, kind, lowerIndex } = link;
  if (parent !== undefined) return parent.bus !== "auxiliary" && !isRepresentor(link);
  return kind === "veth" && links.some(({ index }) => index === lowerIndex);
}

/** Returns `absent` if the interface has just vanished. */
export async function orIfGone<Value, Absent>(read: () => Promise<Value>, absent: Absent): Promise<Value | Absent> {
  try {
    return await read();
  } catch (thrown) {
    if (thrown instanceof HostError && thrown.code === "ENODEV") return absent;
    throw thrown;
  }
}
