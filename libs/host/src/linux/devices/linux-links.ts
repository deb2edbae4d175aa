// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxLinks implements Links over rtnetlink, over the netlink family ethtool for features, and over sysfs for the speed.
 */
import { defined } from "@switchyard/api";
import {
  connectedNetworks,
  defaultRouteLinks,
  ethtoolFamily,
  getFeatures,
  listLinks,
  routeLinks,
  setFeature,
  setLinkMtu,
  setLinkUp,
  setVfAddress,
  setVfSetting,
  type GenericFamily,
  type LinkInfo,
  type NetlinkSocket,
} from "@switchyard/netlink";
import { isErrno } from "@switchyard/service";
import { join } from "node:path";
import { HostError, toHostError, withHostError, type HostOperation } from "../../calls/host-error.ts";
import { operations } from "../../calls/operations.ts";
import type { Link, Links, Routes } from "../../ports/links.ts";
import { askKernel, createFamilyResolver } from "../system/ask-kernel.ts";
import { readLockedAttribute } from "../system/read-sysfs.ts";
import { functionOfVirtio } from "../system/read-pci-functions.ts";

export interface LinuxLinksDeps {
  /** Directory that contains sys: "/" or "/host". Its sysfs must show the network namespace of the socket. */
  readonly root: string;
  /** A socket of protocol route. The caller disposes of it. */
  readonly socket: NetlinkSocket;
  /** A socket of protocol generic. The caller disposes of it. */
  readonly genericSocket: NetlinkSocket;
}

export function createLinuxLinks({ root, socket, genericSocket }: LinuxLinksDeps): Links {
  const { links: at } = operations;
  const resolve = createFamilyResolver(genericSocket, ethtoolFamily);

  async function ethtool(operation: HostOperation): Promise<GenericFamily> {
    const family = await resolve();
    if (family === undefined)
      throw new HostError(operation, "EOPNOTSUPP", { words: "the kernel has no ethtool netlink" });
    return family;
  }

  return {
    listLinks: () =>
      withHostError(at.listLinks(), () =>
        askKernel(at.listLinks(), async () => (await listLinks(socket)).map((info) => toLink(root, info))),
      ),
    readSpeedMbps: (name) => readSpeedMbps(root, name),
    setMtu: (name, mtu) => askKernel(at.setMtu(name, mtu), () => setLinkMtu(socket, name, mtu)),
    setAdminUp: (name, up) => askKernel(at.setAdminUp(name, up), () => setLinkUp(socket, name, up)),
    readFeature: (name, feature) =>
      askKernel(at.readFeature(name, feature), async () => {
        const family = await resolve();
        if (family === undefined) return undefined; // before Linux 5.7
        const { active, changeable } = await getFeatures(family, name);
        return { on: active.has(feature), changeable: changeable.has(feature) };
      }),
    setFeature: (name, feature, on) =>
      askKernel(at.setFeature(name, feature, on), async () => {
        const operation = at.setFeature(name, feature, on);
        const isDone = await setFeature(await ethtool(operation), name, { name: feature, on });
        if (!isDone) throw new HostError(operation, "EOPNOTSUPP", { words: "the driver did not change it" });
      }),
    setVfMac: (pfName, vfId, mac) =>
      askKernel(at.setVfMac(pfName, vfId, mac), () => setVfAddress(socket, pfName, { vfId, address: mac })),
    setVf: (pfName, vfId, setting) =>
      askKernel(at.setVf(pfName, vfId, setting), () => setVfSetting(socket, pfName, { vfId, setting })),
  };
}

const types = new Map<number, Link["type"]>([
  [1, "ether"],
  [32, "infiniband"],
]); // by ARPHRD_*

function toLink(root: string, info: LinkInfo): Link {
  const { index, name, altNames, mtu, maxMtu, adminUp, promiscuous, physPortName, physSwitchId, hasXdp } = info;
  const parent = info.parent && deviceOf(root, info.parent);
  const { kind, masterIndex, lowerIndex, permanentAddress } = info;
  return {
    index,
    name,
    altNames,
    mac: info.address,
    mtu,
    adminUp,
    promiscuous,
    type: types.get(info.hardwareType) ?? "other",
    hasXdp,
    ...defined({
      permanentMac: permanentAddress,
      maxMtu,
      parent,
      kind,
      masterIndex,
      lowerIndex,
      physPortName,
      physSwitchId,
    }),
    vfs: info.vfs
      .map(({ address, nodeGuid, ...vf }) => ({ ...vf, mac: address, ...defined({ guid: nodeGuid }) }))
      .sort((a, b) => a.vfId - b.vfId),
  };
}

function deviceOf(root: string, parent: NonNullable<Link["parent"]>): Link["parent"] {
  const pciFunction = parent.bus === "virtio" ? functionOfVirtio(root, parent.name) : undefined;
  return pciFunction === undefined ? parent : { bus: "pci", name: pciFunction };
}

// EINVAL: the interface is down, or its driver has no speed (veth, bridges without ports).
const withoutSpeed = ["EINVAL", "EOPNOTSUPP"] as const;

async function readSpeedMbps(root: string, name: string): Promise<number | undefined> {
  const at = operations.links.readSpeedMbps(name);
  if (name.includes("/")) throw new HostError(at, "ENODEV", {}); // not an interface name, and would leave the directory
  try {
    const text = await readLockedAttribute(join(root, "sys/class/net", name, "speed"));
    if (text === undefined) throw new HostError(at, "ENODEV", {});
    const speed = Number.parseInt(text, 10);
    // SPEED_UNKNOWN is -1; some drivers store it unsigned, as 4294967295.
    return speed > 0 && speed < 0xffff_ffff ? speed : undefined;
  } catch (error) {
    if (isErrno(error, ...withoutSpeed)) return undefined;
    throw toHostError(at, error);
  }
}

/**
 * createLinuxRoutes implements Routes over rtnetlink.
 * The caller disposes of the socket.
 */
export function createLinuxRoutes(socket: NetlinkSocket): Routes {
  const { routes: at } = operations;
  return {
    listDefaultRouteLinks: () => askKernel(at.listDefaultRouteLinks(), () => defaultRouteLinks(socket)),
    listConnectedNetworks: () => askKernel(at.listConnectedNetworks(), () => connectedNetworks(socket)),
    listRouteLinks: (address) => askKernel(at.listRouteLinks(address), () => routeLinks(socket, address)),
  };
}
