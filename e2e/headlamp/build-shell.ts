// SPDX-License-Identifier: Apache-2.0
/**
 * buildShell bundles the user interface of Headlamp (shell/shell.jsx). Its packages, some 600 MB, are installed outside the
 * checkout: ~/.cache/switchyard/headlamp-shell/<hash of the lock file>.
 */
import { findWorkspaceRoot } from "@switchyard/testing";
import { cachedDirectory } from "@switchyard/testing/user-cache";
import { build, type Plugin } from "esbuild";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** Paths of the bundle. */
export interface Shell {
  readonly script: string;
  readonly style: string;
}

/** Writes the bundle into `directory`. */
export async function buildShell(directory: string): Promise<Shell> {
  const source = join(findWorkspaceRoot(), "e2e/headlamp/shell");
  const installed = await installPackages(source);
  await copyFile(join(source, "shell.jsx"), join(installed, "shell.jsx"));
  const script = join(directory, "shell.js");
  const asText = [".png", ".ttf", ".woff", ".woff2"].map((extension) => [extension, "dataurl"] as const);
  await build({
    absWorkingDir: installed,
    entryPoints: ["shell.jsx"],
    outfile: script,
    bundle: true,
    platform: "browser",
    format: "iife",
    jsx: "automatic",
    loader: Object.fromEntries(asText),
    plugins: [emptyPictures],
    alias: { path: "path-browserify" },
    define: { "process.env.NODE_ENV": '"production"', global: "globalThis", "import.meta.env": "{}" },
    banner: { js: "globalThis.process = { env: {}, nextTick: (run) => queueMicrotask(run) };" },
    logOverride: { "empty-glob": "silent" }, // translations, which the library does not contain
    logLevel: "error",
  });
  return { script, style: join(directory, "shell.css") };
}

/** Headlamp imports its logos as components. */
const emptyPictures: Plugin = {
  name: "empty-pictures",
  setup(bundling) {
    bundling.onLoad({ filter: /\.svg$/ }, () => ({ contents: "export default () => null;", loader: "js" }));
  },
};

async function installPackages(source: string): Promise<string> {
  const lock = await readFile(join(source, "package-lock.json"));
  const hash = createHash("sha256").update(lock).digest("hex").slice(0, 12);
  return cachedDirectory(join("headlamp-shell", hash), async (directory) => {
    process.stderr.write("installing the library of Headlamp, some 600 MB; this takes about two minutes\n");
    for (const name of ["package.json", "package-lock.json"]) await copyFile(join(source, name), join(directory, name));
    const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    await promisify(execFile)("npm", args, { cwd: directory, maxBuffer: 64 * 1024 * 1024 });
  });
}
