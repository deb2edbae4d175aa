// SPDX-License-Identifier: Apache-2.0
/**
 * Adds this release's site to a folder with the sites of all releases: /v0.1/, /v0.2/, versions.json with the newest
 * first, and an index.html that leads to the newest.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** "v0.1" for "0.1.3": releases of one minor version share a site. */
export function siteVersion(version: string): string {
  const [, major, minor] = /^(\d+)\.(\d+)\./.exec(version) ?? [];
  if (major === undefined || minor === undefined) throw new Error(`version "${version}" is not like 1.2.3`);
  return `v${major}.${minor}`;
}

/** Writes versions.json and index.html. Other versions that are in versions.json stay. */
export async function writeVersions(directory: string, added: string): Promise<readonly string[]> {
  const file = join(directory, "versions.json");
  const versions = [...new Set([...(await listedVersions(file)), added])].sort(newestFirst);
  await writeFile(file, `${JSON.stringify(versions)}\n`);
  await writeFile(join(directory, "index.html"), redirectTo(versions[0] ?? added));
  return versions;
}

async function listedVersions(file: string): Promise<readonly string[]> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "[]";
    throw error;
  });
  const listed: unknown = JSON.parse(text);
  const isVersion = (it: unknown): it is string => typeof it === "string" && /^v\d+\.\d+$/.test(it);
  if (Array.isArray(listed) && listed.every(isVersion)) return listed;
  throw new Error(`${file} is not a list of versions such as ["v0.2","v0.1"]`);
}

function newestFirst(a: string, b: string): number {
  const [majorA = 0, minorA = 0] = a.slice(1).split(".").map(Number);
  const [majorB = 0, minorB = 0] = b.slice(1).split(".").map(Number);
  return majorB - majorA || minorB - minorA;
}

function redirectTo(version: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Switchyard</title>
    <meta http-equiv="refresh" content="0; url=${version}/" />
  </head>
  <body><a href="${version}/">Switchyard ${version}</a></body>
</html>
`;
}
