// SPDX-License-Identifier: Apache-2.0
/**
 * packInitrd creates the initramfs of one boot. It contains the programs that mount the disk, and the files of the lab (guest/,
 * src/agent) that are copied over the disk. It is created at each boot in a few milliseconds, so these files are always those
 * of the checkout. Only the files of Debian are cached.
 */
import { build } from "esbuild";
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { imageFiles } from "./image.ts";
import type { Lab } from "./lab.ts";
import { labDirectory } from "../workspace.ts";

const fileType = 0o100000;

const directoryType = 0o040000;

/** A regular file, owned by root. The archive also contains its directories. */
interface CpioFile {
  /** Relative to the archive's root, such as `etc/hosts`. */
  readonly path: string;
  /** Permission bits, such as 0o755. */
  readonly mode: number;
  readonly data: Uint8Array;
}

/** Returns the archive for the option -initrd of QEMU. */
export async function packInitrd({ image, modules }: Lab): Promise<Buffer> {
  const files = imageFiles(image);
  const guest = join(labDirectory(), "guest");
  return packCpio([
    await oneFile("init", 0o755, join(guest, "init")),
    await oneFile("bin/busybox", 0o755, files.busybox),
    ...(await readTree(files.modules, "modules")),
    ...(await readTree(join(guest, "rootfs"), "rootfs")),
    { path: "rootfs/usr/lib/lab/agent.mjs", mode: 0o644, data: await bundleAgent() },
    ...(modules === undefined ? [] : await readTree(modules.directory, "rootfs")),
  ]);
}

async function bundleAgent(): Promise<Uint8Array> {
  const entryPoints = [join(labDirectory(), "src/agent/main.ts")];
  const { outputFiles } = await build({ entryPoints, bundle: true, platform: "node", format: "esm", write: false });
  return outputFiles[0]?.contents ?? new Uint8Array();
}

async function oneFile(path: string, mode: number, source: string): Promise<CpioFile> {
  return { path, mode, data: await readFile(source) };
}

/**
 * packCpio writes archives for the initramfs in the "newc" format (Linux,
 * Documentation/driver-api/early-userspace/buffer-format.rst). With it, each boot gets the lab's files of the checkout without
 * root and without other tools. If two files have the same path, the later one wins, because the kernel unpacks in order.
 */
export function packCpio(files: readonly CpioFile[]): Buffer {
  const directories = new Set(files.flatMap(({ path }) => parents(path)));
  const parts = [...directories].map((path, index) => entry(index + 1, path, directoryType | 0o755, new Uint8Array()));
  for (const { path, mode, data } of files) parts.push(entry(parts.length + 1, path, fileType | mode, data));
  parts.push(entry(0, "TRAILER!!!", 0, new Uint8Array()));
  return Buffer.concat(parts);
}

/** Reads the files of a directory tree and puts them under `prefix`. Modes become 0755 or 0644, whatever the umask of the checkout. */
export async function readTree(directory: string, prefix: string): Promise<CpioFile[]> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  const paths = entries.filter((item) => item.isFile()).map((item) => join(item.parentPath, item.name));
  return Promise.all(
    paths.sort().map(async (path) => ({
      path: join(prefix, path.slice(directory.length)),
      mode: ((await stat(path)).mode & 0o100) === 0 ? 0o644 : 0o755,
      data: await readFile(path),
    })),
  );
}

/** Returns `a` and `a/b` for `a/b/c`, outermost first, because the kernel does not create missing directories. */
function parents(path: string): string[] {
  const parent = dirname(path);
  return parent === "." ? [] : [...parents(parent), parent];
}

function entry(inode: number, path: string, mode: number, data: Uint8Array): Buffer {
  const name = Buffer.from(`${path}\0`);
  const links = (mode & directoryType) === 0 ? 1 : 2;
  // ino mode uid gid nlink mtime filesize devmajor devminor rdevmajor rdevminor namesize check
  const fields = [inode, mode, 0, 0, links, 0, data.length, 0, 0, 0, 0, name.length, 0];
  const head = Buffer.from(`070701${fields.map((field) => field.toString(16).padStart(8, "0")).join("")}`);
  return Buffer.concat([padded(Buffer.concat([head, name])), padded(data)]);
}

function padded(data: Uint8Array): Buffer {
  return Buffer.concat([data, Buffer.alloc(-data.length & 3)]);
}
