// SPDX-License-Identifier: Apache-2.0
/** createLinuxXdp implements Xdp over rtnetlink, bpf(2), the netlink families netdev and ethtool, and sysfs. */
import { isInterfaceName, xskMapDirectory } from "@switchyard/api";
import {
  detachXdp,
  ethtoolFamily,
  getChannels,
  isRedirectProgram,
  listXdpFeatures,
  netdevFamily,
  NetlinkError,
  type NetlinkSocket,
  openXdpProgram,
  readXdp,
  setChannels,
  type XdpProgram as OpenProgram,
  xskMapName,
} from "@switchyard/netlink";
import { isErrno } from "@switchyard/service";
import { promises as fs } from "node:fs";
import { join } from "node:path";
import { HostError, withHostError } from "../../calls/host-error.ts";
import { operations } from "../../calls/operations.ts";
import type { Xdp, XdpProgram } from "../../ports/xdp.ts";
import { askKernel, createFamilyResolver } from "../system/ask-kernel.ts";
import { readNetDevice } from "./read-net-device.ts";
import { readNames } from "../system/read-sysfs.ts";

export interface LinuxXdpDeps {
  /** Directory that contains sys, with the BPF file system: "/" or "/host". Its sysfs must show the network namespace of the sockets. */
  readonly root: string;
  /** A socket of protocol route. The caller disposes of it. */
  readonly socket: NetlinkSocket;
  /** A socket of protocol generic in the same network namespace. The caller disposes of it. */
  readonly genericSocket: NetlinkSocket;
}

export function createLinuxXdp({ root, socket, genericSocket }: LinuxXdpDeps): Xdp {
  const { xdp: at } = operations;
  const resolveNetdev = createFamilyResolver(genericSocket, netdevFamily);
  const resolveEthtool = createFamilyResolver(genericSocket, ethtoolFamily);
  const maps = join(root, "sys/fs/bpf", xskMapDirectory);

  return {
    listFeatures: () =>
      askKernel(at.listFeatures(), async () => {
        const family = await resolveNetdev();
        const features = family === undefined ? [] : await listXdpFeatures(family);
        return features.map(({ index, native, redirect, zeroCopy }) => ({
          index,
          native: native && redirect,
          zeroCopy,
        }));
      }),
    readDevice: (name) =>
      withHostError(at.readDevice(name), () => {
        const device = readNetDevice(root, name);
        if (device === undefined) throw new HostError(at.readDevice(name), "ENODEV", {});
        return device;
      }),
    readPrograms: (name) =>
      askKernel(at.readPrograms(name), async () =>
        (await readXdp(socket, name)).flatMap(({ mode, programId }): readonly XdpProgram[] => {
          using program = openIfThere(programId);
          if (program === undefined) return []; // detached since
          const isOwn = isRedirectProgram(program);
          return [{ id: programId, mode, isOwn, ...(program.name !== "" && { name: program.name }) }];
        }),
      ),
    detachOwnPrograms: (name) =>
      askKernel(at.detachOwnPrograms(name), async () => {
        for (const { mode, programId } of await readXdp(socket, name)) {
          using program = openIfThere(programId);
          if (program === undefined || !isRedirectProgram(program) || mode === "offloaded") continue;
          await detachXdp(socket, name, { program, mode });
        }
      }),
    listOwnMaps: () =>
      withHostError(at.listOwnMaps(), () => {
        const names = (readNames(maps) ?? []).filter(isInterfaceName);
        return names.filter((name) => readNames(join(maps, name))?.includes(xskMapName)).sort();
      }),
    removeOwnMap: (name) =>
      withHostError(at.removeOwnMap(name), async () => {
        if (!isInterfaceName(name)) throw new HostError(at.removeOwnMap(name), "EINVAL", {});
        try {
          await fs.unlink(join(maps, name, xskMapName));
          await fs.rmdir(join(maps, name));
        } catch (error) {
          if (!isErrno(error, "ENOENT", "ENOTEMPTY")) throw error;
        }
      }),
    async readQueues(name) {
      try {
        return await askKernel(at.readQueues(name), async () => {
          const family = await resolveEthtool();
          if (family === undefined) return undefined;
          const { now, most } = await getChannels(family, name);
          return { count: now.receive + now.combined, max: most.combined > 0 ? most.combined : most.receive };
        });
      } catch (error) {
        if (error instanceof HostError && error.code === "EOPNOTSUPP") return undefined;
        throw error;
      }
    },
    setQueues: (name, count) =>
      askKernel(at.setQueues(name, count), async () => {
        const family = await resolveEthtool();
        if (family === undefined)
          throw new HostError(at.setQueues(name, count), "EOPNOTSUPP", { words: "the kernel has no ethtool netlink" });
        const { now, most } = await getChannels(family, name);
        const wanted =
          most.combined > 0
            ? { combined: count, ...(now.receive > 0 && { receive: 0 }), ...(now.send > 0 && { send: 0 }) }
            : { receive: count, send: Math.min(count, most.send) };
        await setChannels(family, name, wanted);
      }),
  };
}

function openIfThere(id: number): OpenProgram | undefined {
  try {
    return openXdpProgram(id);
  } catch (error) {
    if (error instanceof NetlinkError && error.code === "ENOENT") return undefined;
    throw error;
  }
}
