// SPDX-License-Identifier: Apache-2.0
/**
 * thirdPartyLicences collects the licence texts of the packages that a bundle contains, from esbuild's list of inputs.
 * Usage: `const text = await thirdPartyLicences(root, Object.keys(metafile.inputs))`.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ReleaseError } from "../release-error.ts";

/** `inputs` are paths from the workspace. Rejects if a package has no licence, neither as a file nor by its name. */
export async function thirdPartyLicences(root: string, inputs: readonly string[]): Promise<string> {
  const packages = new Set(inputs.map(packageOf).filter((directory) => directory !== undefined));
  const texts = await Promise.all([...packages].sort().map((directory) => licenceOf(join(root, directory))));
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}

/** "node_modules/a/node_modules/@b/c/x.js" is in "node_modules/a/node_modules/@b/c". */
function packageOf(input: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0];
}

async function licenceOf(directory: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(directory, "package.json"), "utf8")) as Readonly<
    Record<"name" | "version" | "license", string | undefined>
  >;
  const file = (await readdir(directory)).find((name) => /^licen[cs]e(?:[.-]|$)/i.test(name));
  const title = `${manifest.name ?? directory} ${manifest.version ?? ""} (${manifest.license ?? "see below"})`;
  if (file !== undefined) return `${title}\n\n${(await readFile(join(directory, file), "utf8")).trim()}\n`;
  if (manifest.license === undefined) throw new ReleaseError("failed", `${directory} does not state its licence`);
  return `${title}\n`;
}
