// SPDX-License-Identifier: Apache-2.0
/**
 * packInitrd creates the initramfs of one boot. It contains the programs that mount the disk, and the files of the lab (guest/,
 * src/agent) that are copied over the disk. It is created at each boot in a few milliseconds, so these files are always those
 * of the checkout. Only the files of Debian are cached.
 * Usage: `await writeFile(path, await packInitrd(lab))`
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { packCpio, readTree, type CpioFile } from "./cpio.ts";
import { imageFiles } from "./image.ts";
import type { Lab } from "./lab.ts";
import { labDirectory } from "./workspace.ts";

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
