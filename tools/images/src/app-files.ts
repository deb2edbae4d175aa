// SPDX-License-Identifier: Apache-2.0
/** copyApp copies a bundled app and its native packages to /app of an image's layer. */
import { cp, mkdir, readdir } from "node:fs/promises";
import { extname, join } from "node:path";
import { findWorkspaceRoot, outputOf } from "@switchyard/testing";
import { appImages, architectures, type AppImage, type AppName, type Architecture } from "./app-image.ts";
import { ImagesError } from "./images-error.ts";
import { npmPackage, type NpmPackage } from "./npm-package.ts";

/** What Node loads of a native package. Sources, documentation and the binary for musl are not copied. */
const loadable: ReadonlySet<string> = new Set([".cjs", ".js", ".json", ".node"]);
const unusedFolders = /\/(?:doc|lib|vendor|musl_[^/]+)(?:\/|$)/;

/** Bundles the apps into dist/apps. Rejects with ImagesError. */
export async function bundleApps(apps: readonly AppName[]): Promise<void> {
  const root = findWorkspaceRoot();
  const projects = apps.map((app) => `@switchyard/${app}`).join();
  const env = { NX_DAEMON: "false" };
  const nx = join(root, "node_modules/.bin/nx");
  await outputOf(nx, ["run-many", "-t", "build", `--projects=${projects}`, "--outputStyle=stream"], {
    cwd: root,
    env,
  });
}

/** Returns the native packages that it copied. Rejects with ImagesError. */
export async function copyApp(app: AppName, architecture: Architecture, layer: string): Promise<readonly NpmPackage[]> {
  const bundle = join(findWorkspaceRoot(), "dist/apps", app);
  const to = join(layer, "app");
  await mkdir(to, { recursive: true });
  for (const name of await readdir(bundle)) {
    // Nothing reads source maps at run time, and they are larger than the code.
    await cp(join(bundle, name), join(to, name), { recursive: true, filter: (path) => extname(path) !== ".map" });
  }
  await cp(join(findWorkspaceRoot(), "LICENSE"), join(to, "LICENSE"));
  const { nativePackages = [] }: AppImage = appImages[app];
  const packages = await Promise.all(
    nativePackages.map((name) => npmPackage(name.replace("ARCH", architectures[architecture].npm))),
  );
  for (const { name, directory } of packages) {
    await cp(directory, join(to, "node_modules", name), {
      recursive: true,
      filter: (path) => isUsed(path.slice(directory.length)),
    });
    const licences = (await readdir(directory)).filter((file) => /^licen[cs]e/i.test(file));
    for (const file of licences) await cp(join(directory, file), join(to, "node_modules", name, file));
  }
  const files = await readdir(to);
  if (!files.some((file) => /^(?:main\.js|eve-bridge\.cjs)$/.test(file))) {
    throw new ImagesError("unexpected-content", `${bundle} does not contain the program of ${app}`);
  }
  return packages;
}

function isUsed(path: string): boolean {
  return !unusedFolders.test(path) && (extname(path) === "" || loadable.has(extname(path)));
}
