// SPDX-License-Identifier: Apache-2.0
/**
 * The image: Debian's kernel, the root disk with Node, and the few modules that are needed to mount it.
 * Usage: `const key = await imageKey(); const { directory } = await buildImage(cache, version, progress)`
 */
import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { contentKey, populate, type CachedPart } from "./cache.ts";
import type { Progress } from "./progress.ts";
import { runScript } from "./run-script.ts";
import { extractVmlinux } from "./vmlinux.ts";
import { guestNode, labDirectory } from "./workspace.ts";

/** What mounting the disk takes, in the order of loading. Some are built in, depending on the kernel. */
const rootModules = ["virtio_blk", "crc16", "crc32c_generic", "libcrc32c", "mbcache", "jbd2", "ext4"];

/** The key of the image that this checkout builds. */
export function imageKey(): Promise<string> {
  return contentKey(labDirectory(), ["image", "src/image.ts", "src/vmlinux.ts"], [guestNode().version]);
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

/** Needs root and the packages of image/deps.sh. Takes half a minute and downloads 170 MB. Rejects with VmLabError. */
export async function buildImage(cache: string, kernelVersion: string, progress: Progress): Promise<CachedPart> {
  const script = (name: string, ...args: string[]) => runScript(join(labDirectory(), "image", name), args);
  return populate(cache, { part: "image", key: await imageKey(), kernelVersion }, async (directory) => {
    const { vmlinux, disk, busybox, modules } = imageFiles({ directory, kernelVersion });
    const kernel = join(directory, "kernel");
    const tree = join(directory, "tree");

    await progress.during(`kernel ${kernelVersion}`, async () => {
      await script("kernel.sh", kernelVersion, join(cache, "debs"), kernel);
      await writeFile(vmlinux, extractVmlinux(await readFile(join(kernel, `boot/vmlinuz-${kernelVersion}`))));
    });
    await progress.during("Debian packages of the guest", () => script("rootfs.sh", tree));
    await progress.during("root disk", async () => {
      await script("guest-modules.sh", kernelVersion, kernel, tree);
      await copyFile(guestNode().binary, join(tree, "usr/bin/node"));
      await chmod(join(tree, "usr/bin/node"), 0o755);
      await script("disk.sh", tree, disk);
      await copyFile(join(tree, "bin/busybox"), busybox);
      await copyRootModules(join(tree, "usr/lib/modules", kernelVersion), modules);
    });
    await rm(kernel, { recursive: true });
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
