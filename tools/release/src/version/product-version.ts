// SPDX-License-Identifier: Apache-2.0
/** The version of the product. package.json of the workspace is the only place that states it. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ReleaseError } from "../release-error.ts";

/**
 * Where the product lives.
 * Repository of the sources and of the releases.
 */
export const repositoryUrl = "https://github.com/switchyard/switchyard";

/** A semantic version without build metadata, which tags of images cannot have. */
const semanticVersion = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

export async function readVersion(root: string): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const version = typeof manifest === "object" && manifest !== null && "version" in manifest ? manifest.version : "";
  if (typeof version === "string" && semanticVersion.test(version)) return version;
  throw new ReleaseError("failed", `package.json: version must be a semantic version, not ${JSON.stringify(version)}`);
}

/** Returns the version. Throws a ReleaseError if `text` is not one. */
export function parseVersion(text: string): string {
  if (semanticVersion.test(text)) return text;
  throw new ReleaseError("usage", `"${text}" must be a semantic version without "v", such as 1.2.3 or 1.2.3-rc.1`);
}

/** Compares by precedence, as semver.org defines it: negative if `a` is older. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map(partsOf);
  for (const at of [0, 1, 2]) {
    const difference = Number(left?.numbers[at]) - Number(right?.numbers[at]);
    if (difference !== 0) return difference;
  }
  return comparePrereleases(left?.prerelease ?? [], right?.prerelease ?? []);
}

function partsOf(version: string) {
  const [, major = "0", minor = "0", patch = "0", prerelease] = semanticVersion.exec(version) ?? [];
  return { numbers: [major, minor, patch].map(Number), prerelease: prerelease?.split(".") ?? [] };
}

/** A version without a pre-release is newer than one with it. Numbers are older than words. */
function comparePrereleases(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (const [at, left] of a.entries()) {
    const right = b[at];
    if (right === undefined) return 1;
    if (left === right) continue;
    const [leftIsNumber, rightIsNumber] = [left, right].map((part) => /^\d+$/.test(part));
    if (leftIsNumber && rightIsNumber) return Number(left) - Number(right);
    if (leftIsNumber !== rightIsNumber) return leftIsNumber ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return a.length - b.length;
}
