// SPDX-License-Identifier: Apache-2.0
/** The image: Debian's kernel, the root disk with Node, and the few modules that are needed to mount it. */
import type { Progress } from "@switchyard/testing";
import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { contentKey, populate, type CachedPart } from "./cache.ts";
import { runScript } from "./run-script.ts";
import { extractVmlinux } from "./vmlinux.ts";
import { guestNode, labDirectory } from "../workspace.ts";

/** What mounting the disk takes, in the order of loading. Some are built in, depending on the kernel. */
const rootModules = ["virtio_blk", "crc16", "crc32c_generic", "libcrc32c", "mbcache", "jbd2", "ext4"];

/** A kernel of Debian: 6.12, with which the tests run, or the newest of the backports of Debian 13, which changes with time. */
export type KernelLine = "6.12" | "backports";

/** Where apt has a kernel. */
interface KernelSource {
  readonly part: "image" | "backports";
  readonly version: string;
  /** For scripts that call apt. */
  readonly env: Readonly<Record<string, string>>;
}

/** The cached part that is the image with this kernel. */
export const imagePart: Readonly<Record<KernelLine, KernelSource["part"]>> = {
  "6.12": "image",
  backports: "backports",
};

/** The key of the images that this checkout builds. */
export function imageKey(): Promise<string> {
  return contentKey(labDirectory(), ["image", "src/image/image.ts", "src/image/vmlinux.ts"], [guestNode().version]);
}

/** Where the pieces of an image lie. */
export function imageFiles(image: CachedPart): Record<"vmlinux" | "disk" | "busybox" | "modules", string> {
  return {
    vmlinux: join(image.directory, "vmlinux"),
    disk: join(image.directory, "rootfs.ext4"),
    busybox: join(image.directory, "busybox"),
    modules: join(image.directory, "modules"),
  };
}

/** Finds the newest kernel in apt. Rejects with VmLabError. */
export async function findKernel(cache: string, line: KernelLine): Promise<KernelSource> {
  const image = join(labDirectory(), "image");
  const env: Record<string, string> = {};
  if (line === "backports") env["APT_CONFIG"] = await aptConfig(join(cache, "apt"), ["trixie-backports"]);
  const version = await runScript(join(image, "kernel-version.sh"), [line], env);
  return { part: imagePart[line], version, env };
}

/**
 * Writes a configuration of apt that knows these suites of Debian only, updates its package lists, which are in `directory`, and
 * returns its path, for APT_CONFIG. Rejects with VmLabError.
 */
export function aptConfig(directory: string, suites: readonly string[]): Promise<string> {
  return runScript(join(labDirectory(), "image/apt-config.sh"), [directory, ...suites]);
}

/** Needs root and the packages of image/deps.sh. Takes half a minute and downloads 170 MB. Rejects with VmLabError. */
export async function buildImage(cache: string, kernel: KernelSource, progress: Progress): Promise<CachedPart> {
  const { part, version: kernelVersion, env } = kernel;
  const script = (name: string, ...args: string[]) => runScript(join(labDirectory(), "image", name), args);
  return populate(cache, { part, key: await imageKey(), version: kernelVersion }, async (directory) => {
    const { vmlinux, disk, busybox, modules } = imageFiles({ directory, version: kernelVersion });
    const unpacked = join(directory, "kernel");
    const tree = join(directory, "tree");

    await progress.during(`kernel ${kernelVersion}`, async () => {
      const args = [kernelVersion, join(cache, "debs"), unpacked];
      await runScript(join(labDirectory(), "image/kernel.sh"), args, env);
      await writeFile(vmlinux, extractVmlinux(await readFile(join(unpacked, `boot/vmlinuz-${kernelVersion}`))));
    });
    await progress.during("Debian packages of the guest", () => script("rootfs.sh", tree));
    await progress.during("root disk", async () => {
      await script("guest-modules.sh", kernelVersion, unpacked, tree);
      await copyFile(guestNode().binary, join(tree, "usr/bin/node"));
      await chmod(join(tree, "usr/bin/node"), 0o755);
      await script("disk.sh", tree, disk);
      await copyFile(join(tree, "bin/busybox"), busybox);
      await copyRootModules(join(tree, "usr/lib/modules", kernelVersion), modules);
    });
    await rm(unpacked, { recursive: true });
    await rm(tree, { recursive: true });
  });
}

/** Named by their order: 0-virtio_blk.ko. */
async function copyRootModules(from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const { name, parentPath } of await readdir(from, { withFileTypes: true, recursive: true })) {
    const order = rootModules.findIndex((module) => `${module}.ko` === name);
    if (order >= 0) await copyFile(join(parentPath, name), join(to, `${order}-${name}`));
  }
}
