// SPDX-License-Identifier: Apache-2.0
/**
 * prepareContext writes the directory that the Containerfile copies from: debian/ARCH, node/ARCH, tools/APP/ARCH, app/APP/ARCH.
 * Modes and times do not depend on the machine, because they are part of a layer's digest.
 * Usage: `const parts = await prepareContext(directory, { apps: ["operator"], architecture: "amd64", withDebian: true });`
 */
import { chmod, cp, lstat, lutimes, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { findWorkspaceRoot } from "@switchyard/testing";
import { copyApp } from "./app-files.ts";
import { appImages, type AppImage, type AppName } from "./app-image.ts";
import { architectures, type Architecture } from "./architecture.ts";
import { writeCompileCache } from "./compile-cache.ts";
import { unpackPackages, type UnpackedSet } from "./debian/unpack.ts";
import { nodeFiles } from "./node-binary.ts";
import type { NpmPackage } from "./npm-package.ts";

export interface ContextOptions {
  readonly apps: readonly AppName[];
  readonly architecture: Architecture;
  /** False if another base image contains the C library. */
  readonly withDebian: boolean;
}

/** Where the content of the images comes from. */
export interface ContextParts {
  readonly base: UnpackedSet | undefined;
  readonly node: NpmPackage;
  readonly apps: ReadonlyMap<
    AppName,
    { readonly tools: UnpackedSet | undefined; readonly native: readonly NpmPackage[] }
  >;
}

/** Rejects with ImagesError. */
export async function prepareContext(
  directory: string,
  { apps, architecture, withDebian }: ContextOptions,
): Promise<ContextParts> {
  const into = async (part: string, from?: string) => {
    const to = join(directory, part, architecture);
    await mkdir(to, { recursive: true });
    if (from !== undefined) await cp(from, to, { recursive: true, verbatimSymlinks: true });
    return to;
  };
  const base = withDebian ? await unpackPackages("base", architecture) : undefined;
  const debian = await into("debian", base?.directory);
  if (base !== undefined) {
    await cp(join(findWorkspaceRoot(), "tools/images/rootfs"), debian, { recursive: true, verbatimSymlinks: true });
  }
  const node = await nodeFiles(architecture);
  await into("node", node.directory);

  const parts = new Map<AppName, { tools: UnpackedSet | undefined; native: readonly NpmPackage[] }>();
  for (const app of apps) {
    const { tools: set, compileCache = false }: AppImage = appImages[app];
    const tools = set === undefined ? undefined : await unpackPackages(set, architecture);
    if (tools !== undefined) await into(`tools/${app}`, tools.directory);
    const layer = await into(`app/${app}`);
    parts.set(app, { tools, native: await copyApp(app, architecture, layer) });
    if (compileCache && process.arch === architectures[architecture].npm) {
      await writeCompileCache(join(layer, "app"), join(node.directory, "usr/bin/node"));
    }
  }
  await normalize(directory);
  return { base, node, apps: parts };
}

/** Directories that every user may write to. */
const shared = /\/(?:var\/)?tmp$/;

async function normalize(path: string): Promise<void> {
  const stats = await lstat(path);
  if (stats.isDirectory()) {
    for (const name of await readdir(path)) await normalize(join(path, name));
    await chmod(path, shared.test(path) ? 0o1777 : 0o755);
  } else if (stats.isFile()) {
    await chmod(path, (stats.mode & 0o100) === 0 ? 0o644 : 0o755);
  }
  await lutimes(path, 0, 0);
}
