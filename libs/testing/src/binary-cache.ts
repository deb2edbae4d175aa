// SPDX-License-Identifier: Apache-2.0
/**
 * Where the control plane's binaries are kept between runs: a directory per set of versions, and in it one per origin,
 * so that a set is never mixed of two origins. A file there is complete: it came by rename.
 * Usage: `const cache = await openBinaryCache(module, process.env); await missingFrom(cache.directory("go"), ["etcd"])`
 */
import { createHash } from "node:crypto";
import { access, constants, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";

export const binaryNames = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"] as const;
export type BinaryName = (typeof binaryNames)[number];

/** What tools/control-plane/go.mod pins. */
export interface BinaryVersions {
  /** "1.36.3" */
  readonly kubernetes: string;
  /** "3.6.16" */
  readonly etcd: string;
  /** The oldest Go that builds them, "1.26". */
  readonly go: string;
}

export interface BinaryCache {
  readonly root: string;
  readonly versions: BinaryVersions;
  directory(origin: "envtest" | "go"): string;
}

const temporaryMark = ".tmp-";

/** The cache for the versions in `moduleDirectory`. `XDG_CACHE_HOME` moves it, a change of go.mod or go.sum renews it. */
export async function openBinaryCache(
  moduleDirectory: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<BinaryCache> {
  const goMod = await readFile(join(moduleDirectory, "go.mod"), "utf8");
  const goSum = await readFile(join(moduleDirectory, "go.sum"), "utf8");
  const versions = readVersions(goMod);
  const hash = createHash("sha256").update(goMod).update(goSum).digest("hex").slice(0, 12);
  const set = `k8s-${versions.kubernetes}-etcd-${versions.etcd}-${process.platform}-${process.arch}-${hash}`;
  const root = join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "switchyard", "control-plane", set);
  return { root, versions, directory: (origin) => join(root, origin) };
}

/** Reads a go.mod. What it lacks is "", and then matches no version. */
export function readVersions(goMod: string): BinaryVersions {
  const versionOf = (module: string) =>
    new RegExp(String.raw`^\s*(?:require\s+)?${module} v(\S+)`, "m").exec(goMod)?.[1] ?? "";
  return {
    kubernetes: versionOf("k8s.io/kubernetes"),
    etcd: versionOf("go.etcd.io/etcd/server/v3"),
    go: /^go (\d+\.\d+)/m.exec(goMod)?.[1] ?? "",
  };
}

/** Those of `names` that are not there, or cannot be run. */
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

/** Gives `fill` an empty directory beside `directory` and moves what it puts there into place, file by file. */
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

// Of fills that were killed; one that is a day old cannot be at work.
async function dropLeftovers(directory: string): Promise<void> {
  const parent = dirname(directory);
  const leftovers = (await readdir(parent)).filter((name) => name.startsWith(basename(directory) + temporaryMark));
  for (const path of leftovers.map((name) => join(parent, name))) {
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > 24 * 60 * 60 * 1000) await rm(path, { recursive: true, force: true });
  }
}
