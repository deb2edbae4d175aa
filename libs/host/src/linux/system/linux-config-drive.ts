// SPDX-License-Identifier: Apache-2.0
/**
 * createLinuxConfigDrive implements ConfigDrive on the block device with the label config-2, which udev links. It needs no
 * mount, which would have to be removed again after a kill.
 */
import { isErrno } from "@switchyard/service";
import { constants, promises as fs } from "node:fs";
import { join } from "node:path";
import { HostError, toHostError } from "../../calls/host-error.ts";
import { operations } from "../../calls/operations.ts";
import type { ConfigDrive } from "../../ports/host-files.ts";

const device = "dev/disk/by-label/config-2";

/** `root` is the directory that contains dev. */
export function createLinuxConfigDrive(root: string): ConfigDrive {
  return {
    async readText(path) {
      try {
        await using file = await fs.open(join(root, device), constants.O_RDONLY | constants.O_NONBLOCK);
        const read = async (offset: number, length: number): Promise<Buffer> => {
          const buffer = Buffer.alloc(length);
          const { bytesRead } = await file.read(buffer, 0, length, offset);
          return buffer.subarray(0, bytesRead);
        };
        return (await readIsoFile(read, path))?.toString("utf8");
      } catch (error) {
        if (isErrno(error, "ENOENT", "ENOTDIR")) return undefined;
        const at = operations.configDrive.readText(path);
        // A drive with another file system, such as vfat, is found by its label, too.
        if (error instanceof IsoError) throw new HostError(at, "EBADMSG", { words: error.message, cause: error });
        throw toHostError(at, error);
      }
    },
  };
}

/**
 * Reads a file from an ISO 9660 image (ECMA-119), the file system of a config drive. Names are those of the Joliet volume,
 * because the primary volume has "2018_08_27" in place of "2018-08-27" (genisoimage 1.1.11). An image without Joliet is read
 * by these names.
 * Reads bytes of the image. Returns fewer at its end.
 */
type ReadBytes = (offset: number, length: number) => Promise<Buffer>;

const sectorBytes = 2048;

/** The first volume descriptor (ECMA-119 6.7.1). */
const firstDescriptor = 16;

const mostDescriptors = 16;

/** Limits of a directory and of a file. A config drive is smaller than 64 MiB. */
const mostDirectoryBytes = 1 << 20;

const mostFileBytes = 1 << 20;

/** Where a file or directory is: its first sector and its size in bytes. */
interface Extent {
  readonly sector: number;
  readonly bytes: number;
  readonly isDirectory: boolean;
}

/** Throws this for an image that is not ISO 9660 or is damaged. */
export class IsoError extends Error {
  override readonly name = "IsoError";
}

/** Returns undefined if the image has no such file. Rejects with IsoError and with errors of `read`. */
export async function readIsoFile(read: ReadBytes, path: string): Promise<Buffer | undefined> {
  const { root, hasJoliet } = await readRoot(read);
  let at: Extent | undefined = root;
  for (const name of path.split("/")) {
    if (!at.isDirectory) return undefined;
    if (at.bytes > mostDirectoryBytes) throw new IsoError(`a directory has ${at.bytes} bytes`);
    const entries = entriesOf(await readExtent(read, at), hasJoliet ? jolietName : primaryName);
    at = entries.get(hasJoliet ? name : primaryKey(name));
    if (at === undefined) return undefined;
  }
  if (at.isDirectory) return undefined;
  if (at.bytes > mostFileBytes) throw new IsoError(`${path} has ${at.bytes} bytes`);
  return readExtent(read, at);
}

interface Root {
  readonly root: Extent;
  readonly hasJoliet: boolean;
}

/** The root directory is in the descriptor of each volume (ECMA-119 8.4, 8.5). */
async function readRoot(read: ReadBytes): Promise<Root> {
  let primary: Root | undefined;
  for (let index = 0; index < mostDescriptors; index++) {
    const sector = await read((firstDescriptor + index) * sectorBytes, sectorBytes);
    if (sector.length < sectorBytes || sector.toString("latin1", 1, 6) !== "CD001") break;
    const root = extentOf(sector.subarray(156, 190));
    if (sector[0] === 1) primary ??= { root, hasJoliet: false };
    // The escape sequences of UCS-2, level 1 to 3.
    if (sector[0] === 2 && /^%\/[@CE]$/.test(sector.toString("latin1", 88, 91))) return { root, hasJoliet: true };
    if (sector[0] === 255) break; // end of the descriptors
  }
  if (primary !== undefined) return primary;
  throw new IsoError("no ISO 9660 file system");
}

async function readExtent(read: ReadBytes, { sector, bytes }: Extent): Promise<Buffer> {
  const content = await read(sector * sectorBytes, bytes);
  if (content.length < bytes) throw new IsoError("the image is shorter than its content");
  return content;
}

/** Directory records do not cross sectors: the rest of a sector is filled with zeros (ECMA-119 6.8.1.1, 9.1). */
function entriesOf(directory: Buffer, nameOf: (bytes: Buffer) => string): ReadonlyMap<string, Extent> {
  const entries = new Map<string, Extent>();
  for (let at = 0; at < directory.length;) {
    const length = directory[at] ?? 0;
    if (length === 0) {
      at = (Math.floor(at / sectorBytes) + 1) * sectorBytes;
      continue;
    }
    const record = directory.subarray(at, at + length);
    at += length;
    if (record.length < 34) continue;
    const nameBytes = record[32] ?? 0;
    const bytes = record.subarray(33, 33 + nameBytes);
    const isSelfOrParent = bytes.length === 1 && (bytes[0] ?? 0) <= 1;
    if (bytes.length !== nameBytes || isSelfOrParent) continue;
    const name = nameOf(bytes).replace(/;\d+$/, "");
    if (!entries.has(name)) entries.set(name, extentOf(record));
  }
  return entries;
}

/** UCS-2 in the byte order of the network. */
function jolietName(bytes: Buffer): string {
  return Buffer.from(bytes.subarray(0, bytes.length & ~1))
    .swap16()
    .toString("utf16le");
}

function primaryName(bytes: Buffer): string {
  return primaryKey(bytes.toString("latin1"));
}

function primaryKey(name: string): string {
  return name.toLowerCase().replaceAll("-", "_");
}

/** Reads location, size and flags of a directory record (ECMA-119 9.1.3 to 9.1.6). */
function extentOf(record: Buffer): Extent {
  return {
    sector: record.readUInt32LE(2),
    bytes: record.readUInt32LE(10),
    isDirectory: ((record[25] ?? 0) & 2) !== 0,
  };
}
