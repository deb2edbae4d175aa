// SPDX-License-Identifier: Apache-2.0
/**
 * A TypeScript program as a directory that a guest can run: one file and the native packages that it loads, since loading many
 * small files over 9p takes half a minute (vm-lab/FINDINGS.md 6).
 * Usage: `bootGuest({ share: await bundleForGuest("libs/host/src/testing/host-contract-main.ts") })`, then
 * `guest.exec(["node", "/share/main.mjs"])`
 */
import { existsSync, statSync } from "node:fs";
import { cp, mkdir, readFile, rename, rm } from "node:fs/promises";
import { extname, join } from "node:path";
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
  const outfile = join(directory, `main.${process.pid}.mjs`);
  await mkdir(directory, { recursive: true });
  await build({
    entryPoints: [join(workspace, entry)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    external: ["koffi"],
    sourcemap: "inline",
    // CommonJS dependencies call require(), which an ES module lacks.
    banner: { js: 'import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);' },
    logLevel: "warning",
  });
  await rename(outfile, join(directory, "main.mjs"));
  for (const name of nativePackages) {
    await installPackage(join(workspace, "node_modules", name), join(directory, "node_modules", name));
  }
  return directory;
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
