// SPDX-License-Identifier: Apache-2.0
/**
 * findOrphanedDevices finds the devices that have an XDP program of Switchyard, or for which it pinned a map: the device plugin pins a map
 * before it attaches a program, and releases both together. So a node where nothing is pinned has no such program.
 */
import type { Host, Link, NetDevice } from "@switchyard/host";
import { orIfGone } from "../observe/device-links.ts";

export interface OrphanedDevice {
  /** Name of the interface on the host. */
  readonly name: string;
  /** What the kubelet can know the device by. The first is the id that afxdp-device-plugin announces. */
  readonly ids: readonly [string, ...string[]];
  /** Otherwise, the interface is in a pod, or does not exist. */
  readonly isOnHost: boolean;
  /** Ids of the programs of Switchyard that are attached to the interface on the host. */
  readonly programs: readonly number[];
}

/** Rejects with HostError. */
export async function findOrphanedDevices(host: Pick<Host, "xdp" | "links">): Promise<readonly OrphanedDevice[]> {
  const pinned = await host.xdp.listOwnMaps();
  if (pinned.length === 0) return [];
  const links = await host.links.listLinks();
  const onHost: OrphanedDevice[] = [];
  for (const link of links.filter(({ type }) => type === "ether")) {
    // Also those without a map of their name: an interface can be renamed.
    const found = link.hasXdp ? await orIfGone(() => host.xdp.readPrograms(link.name), []) : [];
    const programs = found.filter(({ isOwn }) => isOwn).map(({ id }) => id);
    if (programs.length === 0 && !pinned.includes(link.name)) continue;
    onHost.push({ name: link.name, ids: await idsOf(link, host), isOnHost: true, programs });
  }
  const present = new Set(links.map(({ name }) => name));
  const away = pinned.filter((name) => !present.has(name));
  return [...onHost, ...away.map((name): OrphanedDevice => ({ name, ids: [name], isOnHost: false, programs: [] }))];
}

/** A subfunction has the id of its auxiliary device, which is its parent; a device of virtio has that of its PCI function. */
async function idsOf({ name, parent }: Link, { xdp }: Pick<Host, "xdp">): Promise<OrphanedDevice["ids"]> {
  const { pciAddress } = await orIfGone<NetDevice, NetDevice>(() => xdp.readDevice(name), {});
  const announced = parent?.bus === "auxiliary" ? parent.name : pciAddress;
  return announced === undefined ? [name] : [announced, name];
}
