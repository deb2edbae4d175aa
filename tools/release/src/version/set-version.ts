// SPDX-License-Identifier: Apache-2.0
/**
 * setVersion starts a release: it writes the version to package.json, derives everything else that states it, and gives
 * the unreleased changes in CHANGELOG.md to the version.
 */
import { outputOf } from "@switchyard/testing";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ReleaseError } from "../release-error.ts";
import { releaseSection } from "./changelog.ts";
import { compareVersions, parseVersion, readVersion } from "./product-version.ts";

export interface NewVersion {
  readonly version: string;
  /** Day of the release: "2026-11-22". */
  readonly date: string;
}

const generator = "tools/generate/src/main.ts";

/** Returns the files that it wrote, except for those that the generator writes. Nothing is written if it rejects. */
export async function setVersion(root: string, { version, date }: NewVersion): Promise<readonly string[]> {
  parseVersion(version);
  const current = await readVersion(root);
  if (compareVersions(version, current) < 0) {
    throw new ReleaseError("failed", `version ${version} is older than ${current}, the version in package.json`);
  }
  const tags = await outputOf("git", ["tag", "--list", `v${version}`], { cwd: root });
  if (tags.trim() !== "")
    throw new ReleaseError("failed", `version ${version} is released: the tag v${version} exists`);

  const edits = await Promise.all(
    [
      { file: "package.json", edit: setInManifest },
      { file: "package-lock.json", edit: setInLockFile },
      { file: "charts/switchyard/Chart.yaml", edit: setInChart },
      { file: "CHANGELOG.md", edit: (text: string) => releaseSection(text, { version, date }) },
    ].map(async ({ file, edit }) => ({ file, text: edit(await readFile(join(root, file), "utf8"), version) })),
  );
  for (const { file, text } of edits) await writeFile(join(root, file), text);
  if (existsSync(join(root, generator))) await outputOf(process.execPath, [join(root, generator)], { cwd: root });
  return edits.map(({ file }) => file);
}

function setInManifest(text: string, version: string): string {
  return replaceOnce("package.json", text, { pattern: /^ {2}"version": "[^"]*"/m, by: `  "version": "${version}"` });
}

/** The lock file has the version of the workspace twice: at the top, and in its entry for the directory "". */
function setInLockFile(text: string, version: string): string {
  const [file, by] = ["package-lock.json", `"version": "${version}"`];
  const top = replaceOnce(file, text, { pattern: /^ {2}"version": "[^"]*"/m, by: `  ${by}` });
  return replaceOnce(file, top, { pattern: /^ {6}"version": "[^"]*"/m, by: `      ${by}` });
}

function setInChart(text: string, version: string): string {
  const file = "charts/switchyard/Chart.yaml";
  const chart = replaceOnce(file, text, { pattern: /^version: .*$/m, by: `version: ${version}` });
  return replaceOnce(file, chart, { pattern: /^appVersion: .*$/m, by: `appVersion: "${version}"` });
}

function replaceOnce(file: string, text: string, { pattern, by }: { pattern: RegExp; by: string }): string {
  if (!pattern.test(text)) throw new ReleaseError("failed", `${file}: no line matches ${pattern.source}`);
  return text.replace(pattern, () => by);
}
