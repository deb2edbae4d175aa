// SPDX-License-Identifier: Apache-2.0
/**
 * A TypeScript program as a directory that a guest can run: main.mjs, a chunk for each import that may not happen, and the
 * native packages that it loads. These are few, since loading many small files over 9p takes half a minute
 * (vm-lab/FINDINGS.md 6).
 * Usage: `bootGuest({ share: await bundleForGuest("libs/host/src/testing/host-contract-main.ts") })`, then
 * `guest.exec(["node", "/share/main.mjs"])`
 */
import { existsSync, statSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { build } from "esbuild";
import { workspaceDirectory } from "./workspace.ts";

/** What a bundle may load beside itself: koffi and, by its own search, the binary for the guest's platform. */
const nativePackages = ["koffi", "@koromix/koffi-linux-x64"];
/** Of a package, what Node can load; the rest is sources and documentation. */
const loadable = new Set([".cjs", ".js", ".json", ".node"]);

/**
 * Bundles `entry`, relative to the workspace, into a directory under dist/ as main.mjs, and returns the directory. The same entry
 * has the same directory, and its files are replaced at once: guests may be running them.
 */
export async function bundleForGuest(entry: string): Promise<string> {
  const workspace = workspaceDirectory();
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
    // CommonJS dependencies call require(), which an ES module lacks.
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

/** Those of earlier builds: the name of a chunk changes with its content. */
async function removeOldChunks(chunks: string, current: ReadonlySet<string>): Promise<void> {
  const names = existsSync(chunks) ? await readdir(chunks) : [];
  const old = names.filter((name) => !current.has(name));
  await Promise.all(old.map((name) => rm(join(chunks, name), { force: true })));
}

/** Copies a package unless this version of it is there. */
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
