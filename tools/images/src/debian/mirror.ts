// SPDX-License-Identifier: Apache-2.0
/**
 * Downloads packages from Debian's archive.
 * Usage: `const content = await download(locked, "20261122T000000Z");`
 */
import { createHash } from "node:crypto";
import { ImagesError } from "../images-error.ts";
import type { LockedPackage } from "./lock.ts";

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
