// SPDX-License-Identifier: Apache-2.0
/** Downloads packages from Debian's archive. */
import { findWorkspaceRoot } from "@switchyard/testing";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Architecture } from "../app-image.ts";
import { ImagesError } from "../images-error.ts";

export const lockFile = join(findWorkspaceRoot(), "tools/images/packages.lock.json");

/**
 * packages.lock.json has the version, the path in the archive and the digest of each Debian package, so that an image
 * contains the same files wherever and whenever it is built.
 * A file of Debian's archive.
 */
export interface LockedPackage {
  readonly version: string;
  /** Archive on a mirror: "debian" or "debian-security". */
  readonly archive: string;
  /** Path in the archive: "pool/main/g/glibc/libc6_2.41-12_amd64.deb". */
  readonly path: string;
  readonly sha256: string;
}

export interface DebianLock {
  /** Time of the update, as snapshot.debian.org writes it: "20261122T000000Z". Mirrors remove old versions, it does not. */
  readonly snapshot: string;
  readonly packages: Readonly<Record<Architecture, Readonly<Record<string, LockedPackage>>>>;
}

const variable = "SWITCHYARD_DEBIAN_MIRROR";

/** Returns the address of the mirror, which has the archives /debian and /debian-security. */
export function mirror(env: NodeJS.ProcessEnv = process.env): string {
  return (env[variable] ?? "http://deb.debian.org").replace(/\/+$/, "");
}

/**
 * Returns the content of the package. A version that the mirror has removed comes from snapshot.debian.org. The digest makes
 * both trustworthy. Rejects with ImagesError.
 */
export async function download({ archive, path, sha256 }: LockedPackage, snapshot: string): Promise<Buffer> {
  const reasons: string[] = [];
  for (const url of [
    `${mirror()}/${archive}/${path}`,
    `http://snapshot.debian.org/archive/${archive}/${snapshot}/${path}`,
  ]) {
    try {
      const response = await fetch(url);
      if (!response.ok) throw new Error(`status ${response.status}`);
      const content = Buffer.from(await response.arrayBuffer());
      if (createHash("sha256").update(content).digest("hex") === sha256) return content;
      reasons.push(`${url}: the content differs from packages.lock.json`);
    } catch (error) {
      const { message = "", cause } = error as { message?: string; cause?: { message?: string } };
      reasons.push(`${url}: ${cause?.message ?? message}`);
    }
  }
  const advice = `Set ${variable} to another mirror, or run "npm run images -- --update-base" to use the newest version.`;
  throw new ImagesError("package-unavailable", `cannot download a Debian package. ${advice}\n${reasons.join("\n")}`);
}

export async function readLock(): Promise<DebianLock> {
  // Written by update-lock.ts only.
  return JSON.parse(await readFile(lockFile, "utf8")) as DebianLock;
}
