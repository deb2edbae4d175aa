// SPDX-License-Identifier: Apache-2.0
/**
 * readTar returns the files of a tar archive (POSIX.1-2017 pax, "ustar"), as `oc adm must-gather` and `tar` write them, also
 * compressed by gzip.
 */
import { gunzipSync } from "node:zlib";

export interface TarFile {
  readonly name: string;
  readonly text: string;
}

const blockBytes = 512;
/** A must-gather has logs, too; these are not unpacked, but count. */
const maxBytes = 1024 * 1024 * 1024;

/** Whether the name is that of an archive. */
export function isTar(path: string): boolean {
  return /\.(?:tar|tar\.gz|tgz)$/.test(path);
}

/**
 * Reads the files that `wants` accepts. Links and devices are left out, and nothing is written to disk, so names need no check.
 * Throws TarError for an archive that is cut off, damaged or larger than 1 GiB.
 */
export function readTar(archive: Uint8Array, wants: (name: string) => boolean): readonly TarFile[] {
  const bytes = unpack(archive);
  const files: TarFile[] = [];
  let longName: string | undefined;
  for (let offset = 0; offset + blockBytes <= bytes.length;) {
    const header = bytes.subarray(offset, offset + blockBytes);
    if (header.every((byte) => byte === 0)) break;
    const size = Number.parseInt(field(header, 124, 12).trim() || "0", 8);
    const start = offset + blockBytes;
    if (!(size >= 0) || start + size > bytes.length) throw new TarError("the archive is damaged or cut off");
    const content = bytes.subarray(start, start + size);
    const type = field(header, 156, 1);
    const name = longName ?? nameIn(header);
    // pax and GNU write long names as an entry before that of the file.
    if (type === "x") longName = /^\d+ path=(.*)$/m.exec(content.toString("utf8"))?.[1];
    else if (type === "L") longName = content.toString("utf8").replace(/\0+$/, "");
    else {
      longName = undefined;
      if ((type === "0" || type === "") && wants(name)) files.push({ name, text: content.toString("utf8") });
    }
    offset = start + Math.ceil(size / blockBytes) * blockBytes;
  }
  return files;
}

/** An archive that cannot be read. */
export class TarError extends Error {
  override readonly name = "TarError";
  readonly code = "damaged";
}

function unpack(archive: Uint8Array): Buffer {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (cause) {
    throw new TarError("the archive cannot be decompressed", { cause });
  }
}

function nameIn(header: Buffer): string {
  const [name, prefix] = [field(header, 0, 100), field(header, 345, 155)];
  return prefix === "" || field(header, 257, 5) !== "ustar" ? name : `${prefix}/${name}`;
}

function field(header: Buffer, start: number, length: number): string {
  const [text = ""] = header
    .subarray(start, start + length)
    .toString("utf8")
    .split("\0");
  return text;
}
