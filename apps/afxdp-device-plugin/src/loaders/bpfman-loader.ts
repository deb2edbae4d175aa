// SPDX-License-Identifier: Apache-2.0
/**
 * createBpfmanLoader uses the XDP programs that bpfman has loaded and attached: it opens the XSK map of the program and pins it
 * for the pod. It attaches, detaches and unloads nothing.
 *
 * The operator writes the ID of each program. An ID can be that of another program, since a reboot, or that of a program that
 * somebody has detached. So the kernel is asked whether the device, or the dispatcher of bpfman on it, runs the program. The map
 * is that of the program with this ID, not the file that bpfman pins: the daemon of bpfman-operator 0.6 mounts its BPF file
 * system in its own container only.
 */
import type { AfxdpLoadedProgram } from "@switchyard/api";
import {
  listExtensions,
  NetlinkError,
  openXdpProgram,
  openXskMap,
  readXdp,
  type NetlinkSocket,
  type XskMap,
} from "@switchyard/netlink";
import { mapName } from "../pools/container-allocation.ts";
import type { PoolDevice } from "../pools/node-pools.ts";
import type { XdpDevices } from "../xdp-devices.ts";
import type { DeviceLoader } from "./builtin-loader.ts";

export interface BpfmanLoaderOptions {
  readonly xdp: Pick<XdpDevices, "adopt">;
  /** In the network namespace of the devices. */
  readonly socket: NetlinkSocket;
  /** Returns the programs that the operator has written. */
  readonly programs: () => readonly AfxdpLoadedProgram[];
}

const notLoaded = "bpfman has not loaded its program";

export function createBpfmanLoader({ xdp, socket, programs }: BpfmanLoaderOptions): DeviceLoader {
  function programOf({ key, name }: PoolDevice): number | string {
    const program = programs().find(({ device }) => device === key);
    if (program === undefined) return notLoaded;
    const { error, programID, release, interfaceName } = program;
    if (error !== undefined) return `${notLoaded}: ${error}`;
    if (release === true) return "its program is being removed";
    if (programID === undefined || !Number.isSafeInteger(programID) || programID <= 0) return notLoaded;
    return interfaceName === name ? programID : `bpfman has attached its program to ${interfaceName}`;
  }

  async function isAttached(name: string, programID: number): Promise<boolean> {
    const attached = (await readXdp(socket, name)).map(({ programId }) => programId);
    if (attached.length === 0 || attached.includes(programID)) return attached.length > 0;
    return listExtensions().some(({ programId, targetId }) => programId === programID && attached.includes(targetId));
  }

  /** Returns the map, or why there is none. */
  async function open(device: PoolDevice): Promise<XskMap | string> {
    const id = programOf(device);
    if (typeof id === "string") return id;
    if (!(await isAttached(device.name, id))) return `bpfman's program ${id} is not attached to it`;
    const map = openMapOf(id);
    if (map === undefined) return `bpfman's program ${id} has no XSK map of the name ${mapName}`;
    if (map.queues >= device.queues) return map;
    const { queues } = map;
    map[Symbol.dispose]();
    return `the map of bpfman's program ${id} has room for ${queues} queues, but the device has ${device.queues}`;
  }

  return {
    async problem(device) {
      const map = await open(device);
      if (typeof map === "string") return map;
      map[Symbol.dispose]();
      return undefined;
    },

    async prepare(device) {
      const map = await open(device);
      if (typeof map === "string") throw new Error(`device ${device.name} cannot be given to a pod: ${map}`);
      try {
        await xdp.adopt(device, map);
      } finally {
        map[Symbol.dispose]();
      }
      return { mode: "bpfman" };
    },
  };
}

/** Returns the map to which the program redirects packets; undefined if the program is gone or has no such map. */
function openMapOf(programID: number): XskMap | undefined {
  try {
    using program = openXdpProgram(programID);
    for (const id of program.mapIds) {
      const map = openIfXskMap(id);
      if (map?.name === mapName) return map;
      map?.[Symbol.dispose]();
    }
    return undefined;
  } catch (error) {
    if (error instanceof NetlinkError && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function openIfXskMap(id: number): XskMap | undefined {
  try {
    return openXskMap(id);
  } catch (error) {
    if (error instanceof NetlinkError && error.code === "EINVAL") return undefined;
    throw error;
  }
}
