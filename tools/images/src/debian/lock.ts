// SPDX-License-Identifier: Apache-2.0
/**
 * packages.lock.json has the version, the path in the archive and the digest of each Debian package, so that an image
 * contains the same files wherever and whenever it is built.
 * Usage: `const { packages } = await readLock(); packages.amd64["libc6"]?.version`
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { findWorkspaceRoot } from "@switchyard/testing";
import type { Architecture } from "../architecture.ts";

/** A file of Debian's archive. */
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

export const lockFile = join(findWorkspaceRoot(), "tools/images/packages.lock.json");

export async function readLock(): Promise<DebianLock> {
  // Written by update-lock.ts only.
  return JSON.parse(await readFile(lockFile, "utf8")) as DebianLock;
}
