// SPDX-License-Identifier: Apache-2.0
/**
 * prepareContext writes the directory that the Containerfile copies from: debian/ARCH, node/ARCH, tools/APP/ARCH, app/APP/ARCH.
 * Modes and times do not depend on the machine, because they are part of a layer's digest.
 * Usage: `const parts = await prepareContext(directory, { apps: ["operator"], architecture: "amd64", withDebian: true });`
 */
import { memoryFlags } from "@switchyard/service/memory";
import { findWorkspaceRoot, outputOf } from "@switchyard/testing";
import { chmod, cp, lstat, lutimes, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { copyApp } from "./app-files.ts";
import { appImages, architectures, type AppImage, type AppName, type Architecture } from "./app-image.ts";
import { unpackPackages, type UnpackedSet } from "./debian/unpack.ts";
import { nodeFiles, type NpmPackage } from "./npm-package.ts";

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

/** The variables (NAME=VALUE) by which Node uses the cache of the app in this directory. The Containerfile has them, too. */
export function compileCacheSettings(app: string): readonly string[] {
  return [`NODE_COMPILE_CACHE=${app}/compile-cache`, "NODE_COMPILE_CACHE_PORTABLE=1"];
}

/**
 * writeCompileCache adds Node's compile cache to a bundled app: the compiled code of the modules that the app loads at its start.
 * It is the same at each build, because the app has a fixed path meanwhile and V8's hashes a fixed seed. Node ignores it with
 * another version, other V8 flags or another user. `app` is a directory with the main.js of a frugal service, whose --help loads
 * all that a start loads. Rejects with ImagesError.
 */
export async function writeCompileCache(app: string, node: string): Promise<void> {
  const start = [
    "env",
    ...compileCacheSettings("/mnt/app"),
    "/mnt/node",
    "--random-seed=1",
    ...memoryFlags,
    "/mnt/app/main.js",
    "--help",
  ];
  // A mount namespace of its own: the rest of the machine does not see these mounts.
  const script = [
    ...["mount -t tmpfs none /mnt", "mkdir /mnt/app", "touch /mnt/node"],
    ...['mount --bind "$1" /mnt/app', 'mount --bind "$2" /mnt/node', "shift 2", 'exec "$@"'],
  ].join(" && ");
  // Node uses only the cache of the same user, which is root on a node.
  const asRoot = process.getuid?.() === 0 ? [] : ["--map-root-user"];
  await outputOf("unshare", [...asRoot, "--mount", "sh", "-c", script, "sh", app, node, ...start]);
}
