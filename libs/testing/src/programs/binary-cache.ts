// SPDX-License-Identifier: Apache-2.0
/**
 * openBinaryCache opens the cache for the binaries of the control plane. It has a directory per set of versions, and in it
 * one per origin, so that binaries of two origins are never mixed. Files are created by rename, so they are complete.
 * Usage: `const cache = await openBinaryCache("tools/control-plane", process.env); cache.directory("go")`.
 */
import { createHash } from "node:crypto";
import { access, constants, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { cachePath } from "./user-cache.ts";

export type BinaryName = "etcd" | "kube-apiserver" | "kube-controller-manager" | "kube-scheduler" | "kubectl";

/** The versions in tools/control-plane/go.mod. */
export interface BinaryVersions {
  /** "1.36.3" */
  readonly kubernetes: string;
  /** "3.6.16" */
  readonly etcd: string;
  /** Oldest Go version that can build them, "1.26". */
  readonly go: string;
}

export interface BinaryCache {
  readonly root: string;
  readonly versions: BinaryVersions;
  directory(origin: "envtest" | "go"): string;
}

const temporaryMark = ".tmp-";

/**
 * Returns the cache for the versions in go.mod and go.sum of `moduleDirectory`; any change of these files leads to another
 * directory. The cache is below XDG_CACHE_HOME or ~/.cache.
 */
export async function openBinaryCache(
  moduleDirectory: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<BinaryCache> {
  const goMod = await readFile(join(moduleDirectory, "go.mod"), "utf8");
  const goSum = await readFile(join(moduleDirectory, "go.sum"), "utf8");
  const versions = readVersions(goMod);
  const hash = createHash("sha256").update(goMod).update(goSum).digest("hex").slice(0, 12);
  const set = `k8s-${versions.kubernetes}-etcd-${versions.etcd}-${process.platform}-${process.arch}-${hash}`;
  const root = cachePath(join("control-plane", set), env);
  return { root, versions, directory: (origin) => join(root, origin) };
}

/** Reads the versions in a go.mod. A version that is missing is "". */
export function readVersions(goMod: string): BinaryVersions {
  const versionOf = (module: string) =>
    new RegExp(String.raw`^\s*(?:require\s+)?${module} v(\S+)`, "m").exec(goMod)?.[1] ?? "";
  return {
    kubernetes: versionOf("k8s.io/kubernetes"),
    etcd: versionOf("go.etcd.io/etcd/server/v3"),
    go: /^go (\d+\.\d+)/m.exec(goMod)?.[1] ?? "",
  };
}

/** Returns the names of binaries that do not exist or are not executable. */
export async function missingFrom(directory: string, names: readonly BinaryName[]): Promise<readonly BinaryName[]> {
  const missing = await Promise.all(
    names.map(async (name) => {
      const found = await access(join(directory, name), constants.X_OK).then(
        () => true,
        () => false,
      );
      return found ? [] : [name];
    }),
  );
  return missing.flat();
}

/** Calls `fill` with an empty directory next to `directory` and then moves its files to `directory`, one by one. */
export async function fillCache(directory: string, fill: (temporary: string) => Promise<void>): Promise<void> {
  await mkdir(directory, { recursive: true });
  await dropLeftovers(directory);
  const temporary = await mkdtemp(directory + temporaryMark);
  try {
    await fill(temporary);
    for (const name of await readdir(temporary)) await rename(join(temporary, name), join(directory, name));
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

// Removes directories of killed processes. A directory that is older than a day is not in use.
async function dropLeftovers(directory: string): Promise<void> {
  const parent = dirname(directory);
  const leftovers = (await readdir(parent)).filter((name) => name.startsWith(basename(directory) + temporaryMark));
  for (const path of leftovers.map((name) => join(parent, name))) {
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > 24 * 60 * 60 * 1000) await rm(path, { recursive: true, force: true });
  }
}
