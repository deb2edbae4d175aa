// SPDX-License-Identifier: Apache-2.0
/**
 * packCli makes an archive of the command line that npm installs by its path: one file, no dependencies, no install script.
 * The package of this name in the npm registry belongs to another project.
 */
import { outputOf } from "@switchyard/testing";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { requireFlag, type Verb } from "../command-line.ts";
import { readVersion, repositoryUrl } from "../version/product-version.ts";
import { buildCli, cliFile, oldestNode } from "./build-cli.ts";

/** `npm run release -- cli` makes the archive of the command line for npm. */
export const cli: Verb = {
  summary: "make an archive that npm installs by its path: the command line in one file",
  operands: "",
  flags: { output: { value: "DIR", summary: "directory of the archive" } },
  run: async (input) => {
    input.print(await packCli(input.root, requireFlag(input, "output")));
  },
};

/** Returns the path of the archive. */
export async function packCli(root: string, output: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "switchyard-npm-"));
  try {
    const files = await buildCli(root, directory);
    const version = await readVersion(root);
    await copyFile(join(root, "docs/cli.md"), join(directory, "README.md"));
    await writeFile(join(directory, "package.json"), `${JSON.stringify(manifest(version, files), undefined, 2)}\n`);
    await mkdir(output, { recursive: true });
    await outputOf("npm", ["pack", "--pack-destination", resolve(output), "--ignore-scripts"], { cwd: directory });
    return join(resolve(output), `switchyard-${version}.tgz`);
  } finally {
    await rm(directory, { recursive: true });
  }
}

function manifest(version: string, files: readonly string[]) {
  return {
    name: "switchyard",
    version,
    private: true, // npm refuses to publish it
    description: "Validates, renders and plans Switchyard's manifests without a cluster",
    license: "Apache-2.0",
    repository: { type: "git", url: `git+${repositoryUrl}.git` },
    type: "module",
    bin: { switchyard: cliFile },
    files,
    engines: { node: `>=${oldestNode.major}.${oldestNode.minor}` },
  };
}
