// SPDX-License-Identifier: Apache-2.0
/**
 * An XSK map assigns AF_XDP sockets to the receive queues of a network interface (BPF_MAP_TYPE_XSKMAP, Linux 4.18). The program
 * of redirect-program.ts reads it, and the process that has a socket writes the socket to it.
 * Usage: `using map = createXskMap({ queues: 8 }); pinXskMap(map, "/sys/fs/bpf/switchyard/ens1f0/xsks_map")`.
 */
import { chmodSync, chownSync, unlinkSync } from "node:fs";
import { isErrno } from "@switchyard/service";
import { NetlinkError } from "../netlink-error.ts";
import { BpfObject, openById, readObjectInfo, readObjectName } from "./bpf-object.ts";
import { bpfCommands, callBpf, loadBpfSystem, maxBpfNameBytes, type BpfSystem } from "./bpf-system.ts";

/** An open XSK map. */
export interface XskMap extends Disposable {
  readonly fd: number;
  readonly id: number;
  readonly name: string;
  /** Number of queues that it has room for. */
  readonly queues: number;
}

/** The name that programs with AF_XDP sockets know the map by. */
export const xskMapName = "xsks_map";

/** BPF_MAP_TYPE_XSKMAP. */
export const xskMapType = 17;
const valueBytes = 4;
const infoBytes = 40; // struct bpf_map_info up to its name

/**
 * Creates a map, which ends with its last reference. Throws NetlinkError: EPERM without the rights; before Linux 5.11 also if
 * the limit of locked memory is too low.
 */
export function createXskMap({ queues }: { readonly queues: number }, system: BpfSystem = loadBpfSystem()): XskMap {
  const attributes = Buffer.alloc(44);
  attributes.writeUInt32LE(xskMapType, 0);
  attributes.writeUInt32LE(valueBytes, 4); // of the key
  attributes.writeUInt32LE(valueBytes, 8);
  attributes.writeUInt32LE(queues, 12);
  attributes.write(xskMapName, 28, maxBpfNameBytes);
  const tried = `create XSK map for ${queues} queues`;
  return describe(
    system,
    new BpfObject(system, callBpf(system, { tried, command: bpfCommands.createMap, attributes })),
  );
}

/** Opens a map by its id. Throws NetlinkError: ENOENT if there is no such map, EINVAL if it is no XSK map. */
export function openXskMap(id: number, system: BpfSystem = loadBpfSystem()): XskMap {
  return describe(system, openById(system, "map", id));
}

/** Opens a pinned map. Throws NetlinkError: ENOENT if there is no such file, EINVAL if it is no XSK map. */
export function openPinnedXskMap(path: string, system: BpfSystem = loadBpfSystem()): XskMap {
  const call = {
    tried: `open pinned XSK map ${path}`,
    command: bpfCommands.openPinned,
    attributes: Buffer.alloc(16), // u64 path, u32 fd, u32 flags
    pointers: [{ offset: 0, bytes: Buffer.from(`${path}\0`) }],
  };
  return describe(system, new BpfObject(system, callBpf(system, call)));
}

/**
 * Makes a file for the map in a BPF file system, in a directory that exists, readable and writable for `uid` only; root if
 * absent. The map then exists until the file is removed. Throws NetlinkError: EEXIST, ENOENT, EPERM outside of such a file
 * system.
 */
export function pinXskMap(
  map: XskMap,
  path: string,
  { uid = 0, system = loadBpfSystem() }: { readonly uid?: number; readonly system?: BpfSystem } = {},
): void {
  const tried = `pin XSK map ${map.id} to ${path}`;
  const attributes = Buffer.alloc(16);
  attributes.writeUInt32LE(map.fd, 8);
  const pointers = [{ offset: 0, bytes: Buffer.from(`${path}\0`) }];
  callBpf(system, { tried, command: bpfCommands.pin, attributes, pointers });
  try {
    // Mode first: the file never belongs to another user while others can open it.
    chmodSync(path, 0o600);
    chownSync(path, uid, 0);
  } catch (error) {
    unpinXskMap(path);
    throw isErrno(error) ? new NetlinkError(tried, error.code) : error;
  }
}

/** Removes the file of a pinned map. No error if it does not exist. Throws NetlinkError: EPERM, EROFS. */
export function unpinXskMap(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return;
    throw isErrno(error) ? new NetlinkError(`unpin XSK map ${path}`, error.code) : error;
  }
}

function describe(system: BpfSystem, object: BpfObject): XskMap {
  try {
    // u32 type, id, key size, value size, entries, flags; then the name
    const info = Buffer.alloc(infoBytes);
    readObjectInfo(system, object, { info });
    const [type, id, queues] = [info.readUInt32LE(0), info.readUInt32LE(4), info.readUInt32LE(16)];
    if (type !== xskMapType) throw new NetlinkError(`open XSK map ${id}`, "EINVAL", `BPF map of type ${type}`);
    const close = () => {
      object[Symbol.dispose]();
    };
    return { fd: object.fd, id, queues, name: readObjectName(info, 24), [Symbol.dispose]: close };
  } catch (error) {
    object[Symbol.dispose]();
    throw error;
  }
}
