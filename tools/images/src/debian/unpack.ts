// SPDX-License-Identifier: Apache-2.0
/** unpackPackages returns a directory with the files of a set of Debian packages. */
import { outputOf } from "@switchyard/testing";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Architecture } from "../app-image.ts";
import { cached, keyOf } from "../cache.ts";
import { ImagesError } from "../images-error.ts";
import { download, readLock, type LockedPackage } from "./archive.ts";
import { filterKey, isKept, packageSets, type PackageSet } from "./package-sets.ts";

/** A change of this number unpacks again. */
const revision = "2";

export interface UnpackedSet {
  /** Root directory of the files. */
  readonly directory: string;
  readonly packages: readonly (LockedPackage & { readonly name: string })[];
  /** Path of a regular file, relative to the directory, -> name of its package. */
  readonly owners: Readonly<Record<string, string>>;
}

/**
 * Directory with a file for each package, as in images without a package manager: scanners for vulnerabilities look there.
 */
const statusDirectory = "var/lib/dpkg/status.d";

/** Downloads what is not in the cache. Rejects with ImagesError. */
export async function unpackPackages(set: PackageSet, architecture: Architecture): Promise<UnpackedSet> {
  const { snapshot, packages: locked } = await readLock();
  const { packages: names, applets } = packageSets[set];
  const packages = names.map((name) => {
    const entry = locked[architecture][name];
    if (entry !== undefined) return { name, ...entry };
    const advice = 'run "npm run images -- --update-base"';
    throw new ImagesError("package-unavailable", `packages.lock.json has no ${name} for ${architecture}; ${advice}`);
  });
  const digests = packages.map(({ sha256 }) => sha256);
  const key = keyOf(revision, filterKey, JSON.stringify(packageSets[set]), ...digests);
  const unpacked = await cached("debian", `${set}-${architecture}-${key}`, async (draft) => {
    const root = join(draft, "root");
    await mkdir(root);
    const owners: Record<string, string> = {};
    const work = await mkdtemp(join(tmpdir(), "switchyard-debs-"));
    try {
      for (const entry of packages) {
        const archive = join(work, `${entry.name}.deb`);
        await writeFile(archive, await download(entry, snapshot));
        for (const path of await unpackPackage(entry.name, archive, root)) if (isKept(path)) owners[path] = entry.name;
      }
    } finally {
      await rm(work, { recursive: true });
    }
    for (const applet of applets) await symlink("busybox", join(root, "usr/bin", applet));
    await removeUnusedFiles(root);
    await writeFile(join(draft, "owners.json"), JSON.stringify(owners));
  });
  // Written above.
  const owners = JSON.parse(await readFile(join(unpacked, "owners.json"), "utf8")) as UnpackedSet["owners"];
  return { directory: join(unpacked, "root"), packages, owners };
}

/** Returns the paths of its regular files. */
async function unpackPackage(name: string, archive: string, to: string): Promise<readonly string[]> {
  await outputOf("dpkg-deb", ["--extract", archive, to]);
  await mkdir(join(to, statusDirectory), { recursive: true });
  const status = (await outputOf("dpkg-deb", ["--field", archive])).trim();
  await writeFile(join(to, statusDirectory, name), `${status}\n`);
  const contents = (await outputOf("dpkg-deb", ["--contents", archive])).trim();
  // "-rw-r--r-- root/root 5 2025-08-09 12:00 ./etc/debian_version"; a hard link has the type h and "link to".
  const files = contents.matchAll(/^[-h](?:\S+\s+){5}\.\/(.+?)(?: link to .*)?$/gm);
  return [...[...files].map(([, path = ""]) => path), join(statusDirectory, name)];
}

async function removeUnusedFiles(root: string, below = ""): Promise<void> {
  for (const entry of await readdir(join(root, below), { withFileTypes: true })) {
    const path = join(below, entry.name);
    if (entry.isDirectory()) {
      await removeUnusedFiles(root, path);
      const isUnused = !isKept(`${path}/`) && (await readdir(join(root, path))).length === 0;
      if (isUnused) await rm(join(root, path), { recursive: true });
    } else if (!isKept(path)) {
      await rm(join(root, path));
    }
  }
}
