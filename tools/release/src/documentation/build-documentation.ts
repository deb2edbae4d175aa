// SPDX-License-Identifier: Apache-2.0
/**
 * buildDocumentation adds this version to the documentation site, which has the pages of all versions. The site of a release
 * is an archive; the next release starts from it.
 */
import { outputOf } from "@switchyard/testing";
import { mkdir, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { sourceEpoch, writeArchive } from "../archive.ts";
import { requireFlag, type Verb } from "../command-line.ts";
import { ReleaseError } from "../release-error.ts";
import { readVersion } from "../version/product-version.ts";

/** `npm run release -- documentation` adds this version to the documentation site. */
export const documentation: Verb = {
  summary: "make the documentation site with the pages of all versions, and its archive",
  operands: "",
  flags: {
    output: { value: "DIR", summary: "directory of the site and its archive" },
    previous: { value: "FILE", summary: "archive of the last release, whose versions stay (default: none)" },
    base: { value: "PATH", summary: 'path of the site on its server (default "/")' },
  },
  run: async (input) => {
    const { root, flags, env, print } = input;
    const { site, archive } = await buildDocumentation(root, {
      output: requireFlag(input, "output"),
      previous: flags["previous"],
      base: flags["base"] ?? "/",
      epoch: await sourceEpoch(root, env),
    });
    for (const path of [site, archive]) print(path);
  },
};

export interface DocumentationOptions {
  /** Directory of the results. It must be empty or absent. */
  readonly output: string;
  /** Archive of the last release; absent for the first. */
  readonly previous?: string | undefined;
  /** Path of the site on its server: "/switchyard/". */
  readonly base: string;
  /** Time of all files in the archive, in seconds since 1970. */
  readonly epoch: number;
}

export interface Documentation {
  /** Directory with the site. */
  readonly site: string;
  /** Archive of the site. */
  readonly archive: string;
}

/** Rejects with ReleaseError if the output is not empty, an archive cannot be read, or the site has dead links. */
async function buildDocumentation(
  root: string,
  { output, previous, base, epoch }: DocumentationOptions,
): Promise<Documentation> {
  const site = resolve(output, "site");
  await mkdir(site, { recursive: true });
  if ((await readdir(site)).length > 0) throw new ReleaseError("failed", `${site} must be empty; delete it first`);
  if (previous !== undefined) await outputOf("tar", ["--extract", `--file=${previous}`, `--directory=${site}`]);
  const main = join(root, "tools/docs/src/main.ts");
  await outputOf(process.execPath, [main, "publish", site, "--base", base], { cwd: root });
  const archive = resolve(output, `documentation-${await readVersion(root)}.tar.gz`);
  await writeArchive({ directory: site, archive, epoch });
  return { site, archive };
}
