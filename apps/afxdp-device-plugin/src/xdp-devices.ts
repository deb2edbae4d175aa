// SPDX-License-Identifier: Apache-2.0
/**
 * createXdpDevices attaches the XDP program to devices, and pins the maps of the programs in a BPF file system. Only programs with the
 * name and the instructions of ours are changed. All state is in the kernel: a process that starts later finds it.
 */
import { chown, rmdir, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import {
  attachXdp,
  createXskMap,
  detachXdp,
  isRedirectProgram,
  loadRedirectProgram,
  NetlinkError,
  NetlinkSocket,
  openPinnedXskMap,
  openXdpProgram,
  pinXskMap,
  protocols,
  readXdp,
  unpinXskMap,
  type AttachedXdp,
  type XskMap,
} from "@switchyard/netlink";
import { isErrno, makeDirectory } from "@switchyard/service";
import { mapDirectory, mapName } from "./pools/container-allocation.ts";

/** A device that a pod is about to get. */
export interface DeviceToPrepare {
  readonly name: string;
  readonly queues: number;
  /** Owner of the pinned map. */
  readonly uid: number;
}

export interface Prepared {
  readonly mode: "native" | "generic";
  /** The driver's answer to the native mode, with mode generic. */
  readonly error?: NetlinkError;
}

/** Rejects and throws NetlinkError, and ForeignProgramError where it says so. */
export interface XdpDevices extends AsyncDisposable {
  /** Returns why the directory cannot have maps: no BPF file system is mounted there. */
  mapsProblem(): Promise<string | undefined>;
  /** Returns the description of an XDP program of somebody else, undefined without one. */
  foreignProgram(name: string): Promise<string | undefined>;
  /** Returns the ids of the XDP programs of others. */
  foreignPrograms(name: string): Promise<readonly number[]>;
  /** Detaches programs of others, by their ids. */
  detachPrograms(name: string, ids: readonly number[]): Promise<void>;
  /**
   * Attaches the program with a new map and pins it, in place of those that the pod before has had. ForeignProgramError if the device
   * has another program.
   */
  prepare(device: DeviceToPrepare): Promise<Prepared>;
  /** Reports whether the device has our program. */
  hasProgram(name: string): Promise<boolean>;
  /** Pins the map of a program that somebody else attached to the device, unless that was done before. */
  adopt(device: Omit<DeviceToPrepare, "queues">, map: XskMap): Promise<void>;
  /** Opens the map of a device that was prepared. */
  readonly openMap: (name: string) => XskMap;
  /** Detaches our program, if the device is there and has it, and removes the map. */
  release(name: string): Promise<void>;
}

/** The device belongs to another XDP program, which is left unchanged. */
class ForeignProgramError extends Error {
  override readonly name = "ForeignProgramError";
  readonly code = "FOREIGN_XDP_PROGRAM";

  constructor(device: string, program: string) {
    super(`device ${device} has an XDP program that Switchyard did not attach: ${program}`);
  }
}

export interface XdpDevicesOptions {
  /** Directory in a BPF file system. */
  readonly maps: string;
  /** Path of the network namespace of the devices, if it is not the one of this process. */
  readonly netns?: string;
}

export function createXdpDevices({ maps, netns }: XdpDevicesOptions): XdpDevices {
  const socket = new NetlinkSocket({ protocol: protocols.route, netns });
  const pathOf = (name: string): string => `${mapDirectory({ maps }, name)}/${mapName}`;

  function openPinned(name: string): XskMap | undefined {
    try {
      return openPinnedXskMap(pathOf(name));
    } catch (error) {
      if (error instanceof NetlinkError && error.code === "ENOENT") return undefined;
      throw error;
    }
  }

  /** Makes the file of the map, in place of the file of another map. */
  async function pin(name: string, map: XskMap, uid: number): Promise<void> {
    await makeDirectory(mapDirectory({ maps }, name), 0o700);
    unpinXskMap(pathOf(name));
    pinXskMap(map, pathOf(name), { uid });
  }

  async function pinOnce(name: string, map: XskMap, uid: number): Promise<void> {
    using pinned = openPinned(name);
    if (pinned?.id === map.id) await chown(pathOf(name), uid, 0);
    else await pin(name, map, uid);
  }

  /** Detaches our program. ForeignProgramError if the device has another one. */
  async function detachOwn(name: string): Promise<void> {
    for (const attached of await readXdp(socket, name)) {
      using program = openAttached(attached);
      if (program === undefined) continue;
      if (!isRedirectProgram(program) || attached.mode === "offloaded")
        throw new ForeignProgramError(name, describe(attached, program.name));
      await detachXdp(socket, name, { program, mode: attached.mode });
    }
  }

  async function listForeign(name: string): Promise<readonly (AttachedXdp & { readonly text: string })[]> {
    const found = [];
    for (const attached of await readAttached(socket, name)) {
      using program = openAttached(attached);
      if (program !== undefined && isRedirectProgram(program)) continue;
      found.push({ ...attached, text: describe(attached, program?.name) });
    }
    return found;
  }

  return {
    async mapsProblem() {
      // On a new node the directory does not exist yet: it is made in the file system that will have it.
      const [place, type] = await nearestFileSystem(maps);
      if (type === bpfFileSystem) return undefined;
      return `${place} is on no BPF file system: mount one with "mount -t bpf bpf ${place}"`;
    },

    foreignProgram: async (name) => (await listForeign(name))[0]?.text,

    foreignPrograms: async (name) => (await listForeign(name)).map(({ programId }) => programId),

    async detachPrograms(name, ids) {
      for (const { programId, mode } of await listForeign(name)) {
        if (!ids.includes(programId) || mode === "offloaded") continue;
        using program = openAttached({ programId, mode });
        if (program !== undefined) await detachXdp(socket, name, { program, mode });
      }
    },

    async prepare(device) {
      const { name, queues, uid } = device;
      // The pod before may still have its map, and a pod with the rights for it may have left a program with a map of its own.
      await detachOwn(name);
      using map = createXskMap({ queues });
      await pin(name, map, uid);
      using program = loadRedirectProgram(map);
      try {
        await attachXdp(socket, name, { program, mode: "native" });
        return { mode: "native" };
      } catch (error) {
        if (!(error instanceof NetlinkError) || error.code !== "EOPNOTSUPP") throw error;
        await attachXdp(socket, name, { program, mode: "generic" });
        return { mode: "generic", error };
      }
    },

    async hasProgram(name) {
      for (const attached of await readAttached(socket, name)) {
        using program = openAttached(attached);
        if (program !== undefined && isRedirectProgram(program)) return true;
      }
      return false;
    },

    adopt: ({ name, uid }, map) => pinOnce(name, map, uid),

    openMap: (name) => openPinnedXskMap(pathOf(name)),

    async release(name) {
      for (const attached of await readAttached(socket, name)) {
        using program = openAttached(attached);
        if (program === undefined || !isRedirectProgram(program) || attached.mode === "offloaded") continue;
        await detachXdp(socket, name, { program, mode: attached.mode });
      }
      unpinXskMap(pathOf(name));
      try {
        await rmdir(mapDirectory({ maps }, name));
      } catch (error) {
        if (!isErrno(error, "ENOENT")) throw error;
      }
    },

    [Symbol.asyncDispose]: () => socket[Symbol.asyncDispose](),
  };
}

/** BPF_FS_MAGIC (linux/magic.h). */
const bpfFileSystem = 0xcafe4a11;

/** Returns the type of the file system of the path, or of the nearest directory above it that exists, with that path. */
async function nearestFileSystem(path: string): Promise<readonly [path: string, type: number]> {
  try {
    return [path, Number((await statfs(path, { bigint: true })).type)];
  } catch (error) {
    if (!isErrno(error, "ENOENT") || dirname(path) === path) throw error;
    return nearestFileSystem(dirname(path));
  }
}

async function readAttached(socket: NetlinkSocket, name: string): Promise<readonly AttachedXdp[]> {
  try {
    return await readXdp(socket, name);
  } catch (error) {
    if (error instanceof NetlinkError && error.code === "ENODEV") return [];
    throw error;
  }
}

/** Returns undefined if the program has just been replaced. */
function openAttached({ programId }: AttachedXdp): ReturnType<typeof openXdpProgram> | undefined {
  try {
    return openXdpProgram(programId);
  } catch (error) {
    if (error instanceof NetlinkError && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function describe({ mode, programId }: AttachedXdp, name: string | undefined): string {
  return `program ${programId} (${name === undefined || name === "" ? "without name" : name}), ${mode} mode`;
}
