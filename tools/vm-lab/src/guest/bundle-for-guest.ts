// SPDX-License-Identifier: Apache-2.0
/**
 * bundleForGuest bundles a TypeScript program into a directory that a guest can run: main.mjs, a chunk for each dynamic import,
 * and the native packages. It contains few files, because loading many small files over 9p takes half a minute.
 * Usage: `bootGuest({ share: await bundleForGuest("libs/host/src/testing/host-contract-main.ts") })`, then
 * `guest.exec(["node", "/share/main.mjs"])`
 */
import { existsSync, statSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { findWorkspaceRoot } from "@switchyard/testing/workspace-root";
import { build } from "esbuild";

/** Packages that are not bundled: koffi, and its binary for the platform of the guest, which koffi finds by itself. */
const nativePackages = ["koffi", "@koromix/koffi-linux-x64"];
/** Extensions of the files that Node loads. Sources and documentation of a package are not copied. */
const loadable = new Set([".cjs", ".js", ".json", ".node"]);

/**
 * Bundles `entry`, a path relative to the workspace, and returns the directory in dist/. Each entry has its own directory. Its
 * files are replaced atomically, because guests may be running them.
 */
export async function bundleForGuest(entry: string): Promise<string> {
  const workspace = findWorkspaceRoot();
  const directory = join(workspace, "dist/guest", entry.replace(/\.ts$/, "").replaceAll("/", "-"));
  const main = `main.${process.pid}`;
  await mkdir(directory, { recursive: true });
  const { metafile } = await build({
    entryPoints: { [main]: join(workspace, entry) },
    outdir: directory,
    outExtension: { ".js": ".mjs" },
    chunkNames: "chunks/[name]-[hash]",
    splitting: true,
    metafile: true,
    absWorkingDir: workspace,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    external: ["koffi"],
    sourcemap: "inline",
    sourcesContent: false,
    // CommonJS dependencies call require(), which does not exist in an ES module.
    banner: { js: 'import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);' },
    logLevel: "warning",
  });
  await rename(join(directory, `${main}.mjs`), join(directory, "main.mjs"));
  await removeOldChunks(
    join(directory, "chunks"),
    new Set(Object.keys(metafile.outputs).map((file) => basename(file))),
  );
  for (const name of nativePackages) {
    await installPackage(join(workspace, "node_modules", name), join(directory, "node_modules", name));
  }
  return directory;
}

/** Removes the chunks of earlier builds. The name of a chunk changes with its content. */
async function removeOldChunks(chunks: string, current: ReadonlySet<string>): Promise<void> {
  const names = existsSync(chunks) ? await readdir(chunks) : [];
  const old = names.filter((name) => !current.has(name));
  await Promise.all(old.map((name) => rm(join(chunks, name), { force: true })));
}

/** Copies a package unless the same version is already there. */
async function installPackage(from: string, to: string): Promise<void> {
  if ((await manifestOf(to)) === (await manifestOf(from))) return;
  const copy = `${to}.${process.pid}`;
  const filter = (path: string) => statSync(path).isDirectory() || loadable.has(extname(path));
  await cp(from, copy, { recursive: true, filter });
  await rm(to, { recursive: true, force: true });
  await rename(copy, to);
}

async function manifestOf(directory: string): Promise<string | undefined> {
  const manifest = join(directory, "package.json");
  return existsSync(manifest) ? readFile(manifest, "utf8") : undefined;
}
