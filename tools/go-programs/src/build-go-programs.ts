// SPDX-License-Identifier: Apache-2.0
/**
 * buildGoPrograms builds Go programs into the user's cache, once for each content of the module's
 * directory. The first build takes about half a minute.
 * Usage: `const bin = await buildGoPrograms({ sources, cacheName: "cni", title: "the CNI plugins" })`.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cachedDirectory } from "@switchyard/testing/user-cache";

/** The programs of a Go module. */
export interface GoPrograms {
  /** Directory of the module. All its commands are built, and the tools that its go.mod names. */
  readonly sources: string;
  /** Name of the directory in the cache. */
  readonly cacheName: string;
  /** What is built, for the progress message: "the CNI plugins". */
  readonly title: string;
  /** Build tags. */
  readonly tags?: readonly string[];
  /** Variable of a Go package -> module in go.mod whose version it gets, so that the program knows its version. */
  readonly versions?: Readonly<Record<string, string>>;
  /** Variable of a Go package -> its value. */
  readonly values?: Readonly<Record<string, string>>;
}

/** Returns the directory with the programs. Rejects if Go is missing or a build fails. */
export async function buildGoPrograms(programs: GoPrograms): Promise<string> {
  const { sources, cacheName, title, tags = [] } = programs;
  return cachedDirectory(join(cacheName, await contentKey(sources)), async (draft) => {
    process.stderr.write(`building ${title} with Go; the first time, this can take some minutes ...\n`);
    const options = ["-trimpath", `-ldflags=${await linkerFlags(programs)}`, `-tags=${tags.join(",")}`];
    const args = ["build", "-C", sources, ...options, "-o", `${draft}/`, "tool", "./..."];
    await promisify(execFile)("go", args, { env: { ...process.env, CGO_ENABLED: "0", GOWORK: "off" } });
  });
}

async function linkerFlags({ sources, versions = {}, values = {} }: GoPrograms): Promise<string> {
  const goMod = await readFile(join(sources, "go.mod"), "utf8");
  const stamps = Object.entries(versions).map(([variable, module]) => {
    const version = new RegExp(String.raw`^\s*(?:require\s+)?${module} (v\S+)`, "m").exec(goMod)?.[1];
    if (version === undefined) throw new Error(`${sources}/go.mod does not require ${module}`);
    return `-X ${variable}=${version}`;
  });
  const fixed = Object.entries(values).map(([variable, value]) => `-X ${variable}=${value}`);
  return ["-s -w", ...stamps, ...fixed].join(" ");
}

/** Returns a name for the content of the directory: of its files and their paths. */
export async function contentKey(directory: string): Promise<string> {
  const hash = createHash("sha256");
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.sort()) hash.update(`${file.slice(directory.length)}\0`).update(await readFile(file));
  return hash.digest("hex").slice(0, 12);
}
