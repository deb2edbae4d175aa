// SPDX-License-Identifier: Apache-2.0
/**
 * fetchNode gets Node.js for an architecture from the npm package that package-lock.json pins, so that a release for one
 * architecture can be made on another.
 * Usage: `const { program, licence } = await fetchNode(root, { arch: "arm64", directory })`.
 */
import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ReleaseError } from "../release-error.ts";
import { runProgram } from "../run-program.ts";

/** An architecture in npm's words. */
export type NodeArch = "x64" | "arm64";

export interface NodeProgram {
  /** Path of the program. */
  readonly program: string;
  /** Path of Node's licence. */
  readonly licence: string;
  readonly version: string;
}

/** Unpacks the package below `directory`. Rejects if its content is not what package-lock.json pins. */
export async function fetchNode(
  root: string,
  { arch, directory }: { readonly arch: NodeArch; readonly directory: string },
): Promise<NodeProgram> {
  const name = `node-linux-${arch}`;
  const { version, integrity } = await lockedPackage(root, name);
  await mkdir(directory, { recursive: true });
  await runProgram("npm", ["pack", `${name}@${version}`, "--pack-destination", directory, "--ignore-scripts"], {
    cwd: root,
  });
  const archive = join(directory, `${name}-${version}.tgz`);
  const actual = `sha512-${createHash("sha512")
    .update(await readFile(archive))
    .digest("base64")}`;
  if (actual !== integrity) {
    throw new ReleaseError(
      "failed",
      `${name}@${version}: the integrity is ${actual}; package-lock.json has ${integrity}`,
    );
  }
  await runProgram("tar", ["-xzf", archive, "-C", directory]);
  return { program: join(directory, "package/bin/node"), licence: join(directory, "package/LICENSE"), version };
}

async function lockedPackage(root: string, name: string) {
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity: string } | undefined>>;
  };
  const locked = lock.packages[`node_modules/${name}`];
  if (locked === undefined) throw new ReleaseError("failed", `package-lock.json has no package ${name}`);
  return locked;
}
