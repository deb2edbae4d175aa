// SPDX-License-Identifier: Apache-2.0
/**
 * readTar returns the files of a tar archive (POSIX.1-2017 pax, "ustar"), as `oc adm must-gather` and `tar` write them, also
 * compressed by gzip.
 */
import { createGunzip } from "node:zlib";

export interface TarFile {
  readonly name: string;
  readonly text: string;
}

/** What an archive has. A file that is too large is named, and the others are read. */
export interface TarContent {
  readonly files: readonly TarFile[];
  readonly tooLarge: readonly string[];
}

const mebibyte = 1024 * 1024;

/** An archive of 1 MB can be 1 GB of zeros, so memory is taken only for files that are wanted. */
export const tarLimits = {
  /** The objects of 1,000 nodes take 33 MB. */
  fileBytes: 128 * mebibyte,
  /** All files that are wanted. */
  wantedBytes: 512 * mebibyte,
  /** A must-gather has logs, too; these are not kept, but take time. */
  archiveBytes: 8 * 1024 * mebibyte,
  nameBytes: 4_096,
};

const blockBytes = 512;

/** A pax record has the length, "path=" and a line break beside the name, and there are other records. */
const longNameBytes = 16 * tarLimits.nameBytes;

/** Whether the name is that of an archive. */
export function isTar(path: string): boolean {
  return /\.(?:tar|tar\.gz|tgz)$/.test(path);
}

/**
 * Reads the files that `wants` accepts. Links and devices are left out, and nothing is written to disk, so names need no check.
 * Rejects with TarError for an archive that is cut off, damaged or beyond a limit.
 */
export async function readTar(
  archive: Uint8Array,
  wants: (name: string) => boolean,
  limits = tarLimits,
): Promise<TarContent> {
  const files: TarFile[] = [];
  const tooLarge: string[] = [];
  const bytes = new ByteReader(unpack(archive));
  let longName: string | undefined;
  let numWanted = 0;
  for (let offset = 0; ;) {
    const header = await bytes.read(blockBytes);
    if (header.length < blockBytes || header.every((byte) => byte === 0)) break;
    const size = sizeIn(header);
    const padding = Math.ceil(size / blockBytes) * blockBytes - size;
    offset += blockBytes + size + padding;
    if (offset > limits.archiveBytes) throw new TarError(`the archive is larger than ${sizeText(limits.archiveBytes)}`);
    const type = field(header, 156, 1);
    // pax and GNU write long names as an entry before that of the file.
    if (type === "x" || type === "L") {
      if (size > longNameBytes) throw new TarError("the archive has a name that is too long");
      longName = longNameIn(await bytes.read(size), type);
      if (longName !== undefined && Buffer.byteLength(longName) > limits.nameBytes)
        throw new TarError("the archive has a name that is too long");
      await bytes.skip(padding);
      continue;
    }
    const name = longName ?? nameIn(header);
    longName = undefined;
    const isWanted = (type === "0" || type === "") && wants(name);
    if (isWanted && size <= limits.fileBytes) {
      numWanted += size;
      if (numWanted > limits.wantedBytes)
        throw new TarError(`the files to read are larger than ${sizeText(limits.wantedBytes)} together`);
      const content = await bytes.read(size);
      if (content.length < size) throw cutOff();
      files.push({ name, text: content.toString("utf8") });
      await bytes.skip(padding);
    } else {
      if (isWanted) tooLarge.push(name);
      if (!(await bytes.skip(size))) throw cutOff();
      await bytes.skip(padding);
    }
  }
  return { files, tooLarge };
}

/** "128 MiB". */
export function sizeText(bytes: number): string {
  return `${Math.ceil(bytes / mebibyte)} MiB`;
}

/** An archive that cannot be read. */
export class TarError extends Error {
  override readonly name = "TarError";
  readonly code = "damaged";
}

function cutOff(): TarError {
  return new TarError("the archive is damaged or cut off");
}

/** The bytes of the archive in chunks, decompressed as they are needed. */
async function* unpack(archive: Uint8Array): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) {
    yield bytes;
    return;
  }
  const gunzip = createGunzip({ chunkSize: mebibyte });
  gunzip.end(bytes);
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) yield chunk;
  } catch (cause) {
    throw new TarError("the archive cannot be decompressed", { cause });
  }
}

/** Takes bytes from the beginning of a sequence of chunks. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Returns less than `length` bytes at the end. */
  async read(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    await this.#take(length, (part) => parts.push(part));
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }

  /** Returns whether there were so many bytes. */
  async skip(length: number): Promise<boolean> {
    return (await this.#take(length, () => undefined)) === length;
  }

  async #take(length: number, use: (part: Buffer) => void): Promise<number> {
    let taken = 0;
    while (taken < length) {
      if (this.#rest.length === 0) {
        const next = await this.#chunks.next();
        if (next.done === true) return taken;
        this.#rest = next.value;
        continue;
      }
      const part = this.#rest.subarray(0, length - taken);
      use(part);
      taken += part.length;
      this.#rest = this.#rest.subarray(part.length);
    }
    return taken;
  }
}

/** Octal digits, ended by a blank or NUL. */
function sizeIn(header: Buffer): number {
  const digits = field(header, 124, 12).trim();
  if (!/^[0-7]{0,12}$/.test(digits)) throw cutOff();
  return Number.parseInt(digits || "0", 8);
}

function longNameIn(content: Buffer, type: "x" | "L"): string | undefined {
  if (type === "L") return field(content, 0, content.length);
  return /^\d+ path=(.*)$/m.exec(content.toString("utf8"))?.[1];
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
